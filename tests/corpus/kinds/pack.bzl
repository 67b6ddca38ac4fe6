"""Packing of assets."""

load("@bazel_skylib//lib:paths.bzl", "paths")

PackInfo = provider(
    doc = "a pack",
    fields = ["archive"],
)

_DEFAULT_LEVEL = 6

def _pack_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".pack")
    ctx.actions.run(
        executable = ctx.executable._packer,
        outputs = [out],
        arguments = [str(ctx.attr.level)],
    )
    return [DefaultInfo(files = depset([out])), PackInfo(archive = out)]

pack_rule = rule(
    implementation = _pack_impl,
    attrs = {
        "level": attr.int(default = _DEFAULT_LEVEL),
        "_packer": attr.label(default = "//tools:packer", executable = True, cfg = "exec"),
    },
)

def pack_assets(name, files, **kwargs):
    """Packs files.

    Args:
      name: the target
    """
    pack_rule(name = name, srcs = files, **kwargs)

pack_aspect = aspect(implementation = _pack_impl)
