"""Writes 165 stores by zarr-python and xarray, and beside each what zarr-python reads back, as float64.

    python3 stores.py FOLDER
"""
import itertools
import json
import os
import sys
import warnings

import numcodecs
import numpy as np
import xarray
import zarr

warnings.simplefilter("ignore")
folder = sys.argv[1]
random = np.random.default_rng(39)
shape = (7, 6, 10)
axes = {name: np.arange(n) * 0.5 for name, n in zip("zyx", shape)}
base = np.round(random.uniform(-100, 100, shape), 2)
made = []


def done(name, store, why=None):
    values = zarr.open(store, mode="r")["p"]
    attributes = dict(values.attrs)
    raw = values[...]
    read = np.asarray(raw, dtype="f8") * attributes.get("scale_factor", 1) + attributes.get("add_offset", 0)
    if raw.dtype.kind in "iu" and values.fill_value is not None:
        # What was never written has the fill value, which xarray therefore takes for "nothing here".
        read[raw == values.fill_value] = np.nan
    read.tofile(os.path.join(folder, f"{name}.bin"))
    made.append({"name": name, "store": os.path.basename(store), "refused": why})


def write(name, dtype, why=None, consolidated=False, values=base, attributes=None, **options):
    store = os.path.join(folder, f"{name}.zarr")
    group = zarr.open_group(store, mode="w")
    group.attrs["periodic"] = "xyz"
    for axis, nodes in axes.items():
        group.create_dataset(axis, data=nodes, chunks=nodes.shape, compressor=None).attrs["_ARRAY_DIMENSIONS"] = [axis]
    options.setdefault("chunks", (4, 6, 5))
    array = group.create_dataset("p", shape=shape, dtype=dtype, **{"fill_value": 0, **options})
    array.attrs["_ARRAY_DIMENSIONS"] = ["z", "y", "x"]
    array.attrs.update(attributes or {})
    array[...] = values.astype(dtype)
    if consolidated:
        zarr.consolidate_metadata(store)
    done(name, store, why)


floats = ["<f2", "<f4", "<f8", ">f4", ">f8"]
# A fill value of 0 is a question.
packed = {"attributes": {"scale_factor": 0.25, "add_offset": 10.0}, "values": np.round(base), "fill_value": None}
integers = ["|i1", "<i2", ">i2", "<i4", "<u2"]
compressors = {
    "none": None,
    **{f"blosc-{name}": numcodecs.Blosc(name, shuffle=i % 3) for i, name in enumerate(["blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy"])},
    "zlib": numcodecs.Zlib(3), "gzip": numcodecs.GZip(3), "bz2": numcodecs.BZ2(3), "zstd": numcodecs.Zstd(3), "lz4": numcodecs.LZ4(),
}
unread = {"blosc-snappy": "blosc with snappy"}
for (name, compressor), dtype in itertools.product(compressors.items(), floats):
    write(f"{name}-{dtype[1:]}{'be' if dtype[0] == '>' else ''}", dtype, unread.get(name), compressor=compressor)
for (name, compressor), dtype in itertools.product(list(compressors.items())[::2], integers):
    positive = {**packed, "values": np.abs(packed["values"])} if "u" in dtype else packed
    write(f"packed-{name}-{dtype[1:]}{'be' if dtype[0] == '>' else ''}", dtype, unread.get(name), compressor=compressor, **positive)
write("lzma", "<f4", "lzma", compressor=numcodecs.LZMA())
write("zfpy-f4", "<f4", compressor=numcodecs.get_codec({"id": "zfpy", "mode": 4, "tolerance": 0.01, "rate": -1, "precision": -1}))
write("zfpy-rate", "<f4", compressor=numcodecs.get_codec({"id": "zfpy", "mode": 2, "tolerance": -1, "rate": 12, "precision": -1}))
write("zfpy", "<f8", "zfpy", compressor=numcodecs.get_codec({"id": "zfpy", "mode": 4, "tolerance": 0.01, "rate": -1, "precision": -1}))
filters = {
    "shuffle": [numcodecs.Shuffle(4)], "delta": [numcodecs.Delta("<f4")], "quantize": [numcodecs.Quantize(2, "<f4")],
    "bitround": [numcodecs.BitRound(12)], "crc32": [numcodecs.CRC32()], "adler32": [numcodecs.Adler32()],
    "fixed": [numcodecs.FixedScaleOffset(0, 100, "<f4", "<i4")],
    "fixed-delta": [numcodecs.FixedScaleOffset(0, 100, "<f4", "<i4"), numcodecs.Delta("<i4")],
    "shuffle-crc32": [numcodecs.Shuffle(4), numcodecs.CRC32()],
}
for (name, filter), (packer, compressor) in itertools.product(filters.items(), [("none", None), ("zstd", numcodecs.Zstd(1)), ("bz2", numcodecs.BZ2(1))]):
    write(f"{name}-{packer}", "<f4", filters=filter, compressor=compressor)
write("packbits", "|u1", filters=[numcodecs.PackBits()], compressor=None, fill_value=None, values=np.abs(np.round(base)) % 2, attributes={"scale_factor": 1.0})
write("astype", "<f8", "astype", filters=[numcodecs.AsType("<f4", "<f8")])
write("base64", "<f4", "base64", filters=[numcodecs.Base64()])
for order, separator, chunks, consolidated in itertools.product("CF", "./", [(7, 6, 10), (3, 4, 7), (1, 6, 10)], [False, True]):
    write(f"form-{order}-{'dot' if separator == '.' else 'slash'}-{chunks[0]}{'-all' if consolidated else ''}", "<f8", order=order,
          dimension_separator=separator, chunks=chunks, consolidated=consolidated)
for i, (dtype, encoding) in enumerate(itertools.product(["f4", "f8"], [
    {}, {"chunks": (3, 3, 5)}, {"compressor": numcodecs.Zlib(1)}, {"compressor": None}, {"compressor": numcodecs.BZ2(1)},
    {"dtype": "i2", "scale_factor": 0.01, "add_offset": 1.0, "_FillValue": -32768}, {"dtype": "i4", "scale_factor": 0.001, "_FillValue": -2147483648},
])):
    name, store = f"xarray-{i}", os.path.join(folder, f"xarray-{i}.zarr")
    data = xarray.Dataset({"p": (("z", "y", "x"), base.astype(dtype))}, coords=axes, attrs={"periodic": "xyz"})
    data.to_zarr(store, mode="w", consolidated=i % 2 == 0, encoding={"p": encoding})
    done(name, store)
while len(made) < 165:
    edge = len(made) % 5 + 1
    write(f"edge-{len(made)}", floats[len(made) % 5], chunks=(edge, 7 - edge, 2 * edge), compressor=numcodecs.Blosc("zstd"), filters=[numcodecs.CRC32()])
json.dump(made, open(os.path.join(folder, "made.json"), "w"))
