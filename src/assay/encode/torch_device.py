"""What was asked of a model's device and precision to what torch takes; the rest is chosen by the machine."""

from __future__ import annotations

import torch

from assay.encode.model_options import ModelOptions
from assay.errors import InputError

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def device_of(options: ModelOptions, model: str) -> str:
    """Return where a model runs: where it was asked to, else on a GPU if there is one."""
    try:
        wanted = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        if options.device:
            torch.empty(1, device=wanted)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        has = f"{torch.cuda.device_count()} GPUs" if torch.cuda.is_available() else "no GPU"
        raise InputError(
            f"option 'device' of {model} is '{options.device}', and torch {torch.__version__} finds {has} here; "
            "wanted cpu, cuda or cuda:N"
        ) from error
    return str(wanted)


def precision_of(options: ModelOptions, device: str) -> torch.dtype:
    """Return in which numbers a model computes: as asked, else bfloat16 on a GPU that has it."""
    on_gpu = device.startswith("cuda") and torch.cuda.is_bf16_supported()
    return PRECISIONS[options.dtype or ("bf16" if on_gpu else "fp32")]
