"""Locations of buckets are read, and those that cannot be are refused in one line."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.store.bucket_place import bucket_place, is_bucket


@pytest.mark.parametrize(
    ("location", "whole", "name", "repos"),
    [
        ("s3://bucket", "s3://bucket", "", "repos"),
        ("s3://bucket/", "s3://bucket", "", "repos"),
        ("gs://b.c-d/some/prefix/", "gs://b.c-d/some/prefix", "", "some/prefix/repos"),
        ("az://box/p#github.com/owner/name", "az://box/p", "github.com/owner/name", "p/repos"),
        ("s3://bucket#x", "s3://bucket", "x", "repos"),
    ],
)
def test_a_location_is_read(location: str, whole: str, name: str, repos: str):
    place = bucket_place(location)
    assert is_bucket(location)
    assert (place.whole, place.name, place.repos) == (whole, name, repos)
    assert bucket_place(str(place)) == place


@pytest.mark.parametrize(
    "location",
    [
        "s3://",
        "s3:///x",
        "s3://b/a b",
        "s3://b/../c",
        "s3://b#",
        "s3://b#a//b",
        "s3://b/x#..",
        "s3://b/x?y=1",
        "s3://b\n",
    ],
)
def test_what_is_none_is_refused(location: str):
    with pytest.raises(InputError):
        bucket_place(location)


def test_folders_are_none():
    assert not any(map(is_bucket, (".", "s3", "s3:/x", "/s3://", "https://host/x", "lance:s3://b/x", "")))
