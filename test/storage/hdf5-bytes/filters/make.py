"""Writes one small file per filter as h5py and hdf5plugin write them; run by hand: python3 make.py FOLDER, then gzip -n -9 FOLDER/*.

Needs python3-h5py, python3-hdf5plugin and libzstd of Debian 12. Every file has /u, 11 x 10 x 12 x 3 in chunks of 5 x 4 x 8 x 3, with
u[z, y, x, c] = (z - 2 y + 3 x) / 8 + c: numbers that float32 has exactly.
"""
import ctypes
import sys

import h5py
import hdf5plugin
import numpy as np

Z, Y, X = np.meshgrid(np.arange(11), np.arange(10), np.arange(12), indexing="ij")
U = ((Z - 2 * Y + 3 * X) / 8)[..., None] + np.arange(3)
CHUNKS = (5, 4, 8, 3)
BLOSC = hdf5plugin.Blosc


def write(name, element="<f4", **filters):
    with h5py.File(f"{sys.argv[1]}/{name}.h5", "w") as file:
        file.create_dataset("u", data=U.astype(element), chunks=CHUNKS, **filters)


def write_zstd(name):
    """The plugin of Zstandard is not in Debian: chunks are compressed here and written as they are."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    with h5py.File(f"{sys.argv[1]}/{name}.h5", "w") as file:
        kind = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        kind.set_chunk(CHUNKS)
        kind.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))
        space = h5py.h5s.create_simple(U.shape)
        dataset = h5py.h5d.create(file.id, b"u", h5py.h5t.IEEE_F32LE, space, kind)
        for z in range(0, 11, 5):
            for y in range(0, 10, 4):
                for x in range(0, 12, 8):
                    chunk = np.zeros(CHUNKS, "<f4")
                    part = U[z : z + 5, y : y + 4, x : x + 8]
                    chunk[tuple(slice(0, n) for n in part.shape)] = part
                    raw = chunk.tobytes()
                    room = ctypes.create_string_buffer(2 * len(raw))
                    size = library.ZSTD_compress(room, len(room), raw, len(raw), 3)
                    dataset.write_direct_chunk((z, y, x, 0), room.raw[:size])


write("lzf", compression="lzf")
write("lzf-shuffle-fletcher32-big-endian", ">f8", compression="lzf", shuffle=True, fletcher32=True)
write("gzip-shuffle", compression="gzip", shuffle=True)
write("gzip-shuffle-fletcher32-float64", "<f8", compression="gzip", shuffle=True, fletcher32=True)
write("fletcher32", fletcher32=True)
write("blosc-lz4-shuffle", **BLOSC(cname="lz4", shuffle=BLOSC.SHUFFLE))
write("blosc-blosclz-bits", **BLOSC(cname="blosclz", shuffle=BLOSC.BITSHUFFLE))
write("blosc-zstd-big-endian", ">f8", **BLOSC(cname="zstd", shuffle=BLOSC.NOSHUFFLE))
write("blosc-lz4hc", **BLOSC(cname="lz4hc"))
write("refused-blosc-zlib", **BLOSC(cname="zlib"))
write("lz4", **hdf5plugin.LZ4())
write("refused-bzip2", **hdf5plugin.BZip2())
write("szip", compression="szip", compression_opts=("nn", 8))
write("zfp-reversible", **hdf5plugin.Zfp(reversible=True))
write("zfp-accuracy", **hdf5plugin.Zfp(accuracy=1e-9))
write("refused-zfp-float64", "<f8", **hdf5plugin.Zfp(reversible=True))
write_zstd("zstd")
