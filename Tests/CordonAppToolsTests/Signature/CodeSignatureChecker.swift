/// A second reader of code signatures, standard library only, that shares nothing with the code under test.
enum CodeSignatureChecker {
    static let script = """
        import hashlib, struct, sys
        def slices(d):
            if d[:4] == b'\\xca\\xfe\\xba\\xbe':
                n = struct.unpack('>I', d[4:8])[0]
                for i in range(n):
                    o, s = struct.unpack('>II', d[8 + i * 20 + 8:8 + i * 20 + 16])
                    yield d[o:o + s]
            elif d[:4] == b'\\xca\\xfe\\xba\\xbf':
                n = struct.unpack('>I', d[4:8])[0]
                for i in range(n):
                    o, s = struct.unpack('>QQ', d[8 + i * 32 + 8:8 + i * 32 + 24])
                    yield d[o:o + s]
            else:
                yield d
        def check(d):
            n = struct.unpack('<I', d[16:20])[0]; o = 32; sig = None; linkedit = None
            for _ in range(n):
                c, s = struct.unpack('<II', d[o:o + 8])
                if c == 0x1d: sig = struct.unpack('<II', d[o + 8:o + 16])
                if c == 0x19 and d[o + 8:o + 18] == b'__LINKEDIT': linkedit = struct.unpack('<QQ', d[o + 40:o + 56])
                o += s
            assert sum(linkedit) == len(d) == sum(sig), 'layout'
            b = d[sig[0]:sig[0] + sig[1]]
            magic, length, count = struct.unpack('>III', b[:12]); assert magic == 0xfade0cc0
            blobs = {}
            for i in range(count):
                t, off = struct.unpack('>II', b[12 + i * 8:20 + i * 8])
                blobs[t] = b[off:off + struct.unpack('>I', b[off + 4:off + 8])[0]]
            cd = blobs[0]
            (m, l, v, flags, ho, io, ns, nc, limit, hs, ht, pf, ps) = struct.unpack('>9I4B', cd[:40])
            assert m == 0xfade0c02 and v in (0x20400, 0x20500) and ht == 2 and limit == sig[0], 'directory'
            size = 1 << ps
            for i in range(nc):
                page = d[i * size:min((i + 1) * size, limit)]
                assert hashlib.sha256(page).digest() == cd[ho + i * 32:ho + i * 32 + 32], 'page %d' % i
            for slot, blob in blobs.items():
                if 0 < slot < 12:
                    assert hashlib.sha256(blob).digest() == cd[ho - slot * 32:ho - slot * 32 + 32], 'slot %d' % slot
        for path in sys.argv[1:]:
            for s in slices(open(path, 'rb').read()):
                try:
                    check(s); print(path, 'ok')
                except AssertionError as e:
                    print(path, 'bad', e)
        """
}
