import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergePermissions, permissionSchema, sameTargets, targetsOf } from '../../../src/core/connector/permission.ts'
import { parseTarget, permits } from '../../../src/core/connector/target.ts'

describe('a target in normal form', () => {
  it.each([
    ['net:api.example.com', 'api.example.com'],
    ['net:API.Example.COM', 'api.example.com'],
    ['net:api.example.com.', 'api.example.com'],
    ['net:localhost', 'localhost'],
    ['net:my_host', 'my_host'],
    ['net:xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['net:api.example.com:443', 'api.example.com:443'],
    ['net:api.example.com:1', 'api.example.com:1'],
    ['net:api.example.com:65535', 'api.example.com:65535'],
    ['net:*.Example.com', '*.example.com'],
    ['net:*.example.com:8080', '*.example.com:8080'],
    ['net:192.0.2.1', '192.0.2.1'],
    ['net:192.0.2.1:80', '192.0.2.1:80'],
    ['net:10.0.0.0/8', '10.0.0.0/8'],
    ['net:10.1.2.3/0', '10.1.2.3/0'],
    ['net:10.1.2.3/32', '10.1.2.3/32'],
    ['net:[2001:DB8:0:0:0:0:0:1]', '[2001:db8::1]'],
    ['net:[2001:db8::0001]:443', '[2001:db8::1]:443'],
    ['net:[::]', '[::]'],
    ['net:[::1]:8080', '[::1]:8080'],
    ['net:[1:0:0:2:0:0:0:3]', '[1:0:0:2::3]'],
    ['net:[1:0:2:3:4:5:6:7]', '[1:0:2:3:4:5:6:7]'],
    ['net:[::ffff:192.0.2.1]', '[::ffff:c000:201]'],
  ])('%s is %s', (permission, target) => {
    expect(parseTarget(permission)).toEqual({ target })
  })

  it.each([
    ['NET:example.com', 'must begin with net: in lower case'],
    ['Net:example.com', 'must begin with net: in lower case'],
    [' net:example.com', 'must begin with net: in lower case'],
    ['example.com', 'must begin with net: in lower case'],
    ['read:/etc', 'must begin with net: in lower case'],
    ['net', 'must begin with net: in lower case'],
    ['net:', 'must name a target after net:'],
    ['net:https://example.com', 'must not be a URL: a target is a host, without a scheme'],
    ['net:ws://example.com', 'must not be a URL: a target is a host, without a scheme'],
    ['net://example.com', 'must not be a URL: a target is a host, without a scheme'],
    ['net:unix:/run/db.sock', 'must not be a socket: a target is a host'],
    ['net:UNIX:/run/db.sock', 'must not be a socket: a target is a host'],
    ['net:example.com/path', 'must not have a path: only IPv4 has subnets'],
    ['net:/run/db.sock', 'must not have a path: only IPv4 has subnets'],
    ['net:example.com/8', 'must not have a path: only IPv4 has subnets'],
    ['net:10.0.0.0/33', 'must have a prefix from 0 to 32'],
    ['net:10.0.0.0/', 'must have a prefix from 0 to 32'],
    ['net:10.0.0.0/08', 'must have a prefix from 0 to 32'],
    ['net:10.0.0.0/8:80', 'must have a prefix from 0 to 32'],
    ['net:10.0.0.0/8/8', 'must not have a path: only IPv4 has subnets'],
    ['net:example.com:0', 'must have a port from 1 to 65535'],
    ['net:example.com:', 'must have a port from 1 to 65535'],
    ['net:example.com:http', 'must have a port from 1 to 65535'],
    ['net:example.com:65536', 'must have a port from 1 to 65535'],
    ['net:example.com:080', 'must have a port from 1 to 65535'],
    ['net:example.com:-1', 'must have a port from 1 to 65535'],
    ['net:example.com:1.5', 'must have a port from 1 to 65535'],
    ['net:[::1]:0', 'must have a port from 1 to 65535'],
    ['net:[::1]:', 'must have a port from 1 to 65535'],
    ['net::443', 'must name a host'],
    ['net:::1', 'must have an IPv6 address in brackets'],
    ['net:2001:db8::1', 'must have an IPv6 address in brackets'],
    ['net:fe80::1:443', 'must have an IPv6 address in brackets'],
    ['net:[::1', 'is not an IPv6 address in brackets'],
    ['net:[]', 'is not an IPv6 address in brackets'],
    ['net:[1:2:3]', 'is not an IPv6 address in brackets'],
    ['net:[1::2::3]', 'is not an IPv6 address in brackets'],
    ['net:[1:2:3:4:5:6:7:8:9]', 'is not an IPv6 address in brackets'],
    ['net:[12345::]', 'is not an IPv6 address in brackets'],
    ['net:[fe80::1%eth0]', 'must be a host or host:port and nothing else'],
    ['net:[192.0.2.1]', 'is not an IPv6 address in brackets'],
    ['net:[::1]x', 'is not an IPv6 address in brackets'],
    ['net:[2001:db8::]/32', 'must not be an IPv6 subnet: only IPv4 has subnets'],
    ['net:*', 'is not a host name'],
    ['net:*.', 'is not a host name'],
    ['net:*.*.com', 'is not a host name'],
    ['net:a.*.com', 'is not a host name'],
    ['net:*example.com', 'is not a host name'],
    ['net:*.192.0.2.1', 'is not an IPv4 address'],
    ['net:-a.com', 'is not a host name'],
    ['net:a..com', 'is not a host name'],
    ['net:.com', 'is not a host name'],
    ['net:bücher.example', 'is not a host name'],
    ['net:256.0.0.1', 'is not an IPv4 address'],
    ['net:127.1', 'is not an IPv4 address'],
    ['net:2130706433', 'is not an IPv4 address'],
    ['net:0x7f.0.0.1', 'is not an IPv4 address'],
    ['net:0x7f000001', 'is not an IPv4 address'],
    ['net:0177.0.0.1', 'is not an IPv4 address'],
    ['net:user@example.com', 'must be a host or host:port and nothing else'],
    ['net:example.com?x', 'must be a host or host:port and nothing else'],
    ['net:example.com ', 'must be a host or host:port and nothing else'],
    ['net:a b', 'must be a host or host:port and nothing else'],
  ])('%s %s', (permission, fault) => {
    expect(parseTarget(permission)).toEqual({ fault })
  })

  it('is its own normal form', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((value) => (value < 0x8000 ? 0 : value))
    const host = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc
        .array(group, { minLength: 8, maxLength: 8 })
        .map((groups) => `[${groups.map((one) => one.toString(16)).join(':')}]`),
    )
    const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined })
    return fc.assert(
      fc.property(host, port, (name, number) => {
        const first = parseTarget(`net:${name}${number === undefined ? '' : `:${number}`}`)
        expect(first).toHaveProperty('target')
        if ('target' in first) expect(parseTarget(`net:${first.target}`)).toEqual(first)
      }),
    )
  })

  it('writes an IPv6 address as URLs do', () => {
    const group = fc.integer({ min: 0, max: 0xffff }).map((value) => (value < 0x9000 ? 0 : value))
    return fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const text = `[${groups.map((one) => one.toString(16)).join(':')}]`
        expect(parseTarget(`net:${text}`)).toEqual({ target: new URL(`http://${text}`).hostname })
      }),
    )
  })
})

describe('a permission item', () => {
  it.each([
    [{ permission: 'net:a.com' }, 'reason'],
    [{ reason: 'why' }, 'permission'],
    [{ permission: 'net:a.com', reason: ' \t\n' }, 'reason'],
    [{ permission: 'net:a.com', reason: '' }, 'reason'],
    [{ permission: 'net:a.com', reason: 5 }, 'reason'],
    [{ permission: 'net:', reason: 'why' }, 'permission'],
  ])('%j is refused for its %s', (item, place) => {
    const result = permissionSchema().safeParse(item)

    expect(result.error?.issues[0]?.path).toEqual([place])
  })

  it('has exactly two fields', () => {
    const result = permissionSchema().safeParse({ permission: 'net:a.com', reason: 'why', port: 1 })

    expect(result.error?.issues[0]).toMatchObject({ code: 'unrecognized_keys', keys: ['port'] })
  })

  it('is kept in normal form', () => {
    expect(permissionSchema().parse({ permission: 'net:A.com', reason: 'why' })).toEqual({
      permission: 'net:a.com',
      reason: 'why',
    })
  })
})

describe('sets of items', () => {
  const item = (permission: string, reason = 'why') => ({ permission, reason })

  it('keep the first reason of a target, the manifest before preflight', () => {
    const united = mergePermissions(
      [item('net:a.com', 'manifest'), item('net:a.com', 'again')],
      [item('net:a.com', 'preflight'), item('net:b.com', 'preflight')],
    )

    expect(united).toEqual([item('net:a.com', 'manifest'), item('net:b.com', 'preflight')])
    expect(targetsOf(united)).toEqual(['a.com', 'b.com'])
  })

  it.each([
    ['the same in another order, for other reasons', ['net:a.com', 'net:b.com'], ['net:b.com', 'net:a.com'], true],
    ['the same twice', ['net:a.com', 'net:a.com'], ['net:a.com'], true],
    ['one missing', ['net:a.com'], ['net:a.com', 'net:b.com'], false],
    ['one too many', ['net:a.com', 'net:b.com'], ['net:a.com'], false],
    ['a host for the same host with a port', ['net:a.com'], ['net:a.com:443'], false],
    ['a wildcard for a subdomain', ['net:*.a.com'], ['net:b.a.com'], false],
    ['a subnet for an address', ['net:10.0.0.0/8'], ['net:10.0.0.1'], false],
  ])('%s', (_, sent, required, expected) => {
    const [one, other] = [sent.map((target) => item(target)), required.map((target) => item(target, 'another'))]

    expect(sameTargets(one, other)).toBe(expected)
    expect(sameTargets(other, one)).toBe(expected)
  })
})

describe('a target permits', () => {
  it.each([
    ['api.example.com', 'api.example.com', 443, true],
    ['api.example.com', 'API.example.com', 80, true],
    ['api.example.com', 'api.example.com.', 80, true],
    ['api.example.com', 'example.com', 80, false],
    ['api.example.com', 'x.api.example.com', 80, false],
    ['api.example.com:443', 'api.example.com', 443, true],
    ['api.example.com:443', 'api.example.com', 80, false],
    ['*.example.com', 'example.com', 80, true],
    ['*.example.com', 'a.b.example.com', 80, true],
    ['*.example.com', 'evil-example.com', 80, false],
    ['*.example.com', 'example.com.evil.org', 80, false],
    ['*.example.com:8080', 'a.example.com', 8080, true],
    ['*.example.com:8080', 'a.example.com', 80, false],
    ['127.0.0.1', '127.0.0.1', 5432, true],
    ['127.0.0.1', 'localhost', 5432, false],
    ['localhost', '127.0.0.1', 5432, false],
    ['127.0.0.1', '127.1', 80, false],
    ['127.0.0.1', '::ffff:127.0.0.1', 80, true],
    ['127.0.0.1', '[::ffff:7f00:1]', 80, true],
    ['127.0.0.1:80', '127.0.0.1', 80, true],
    ['127.0.0.1:80', '127.0.0.1', 81, false],
    ['10.0.0.0/8', '10.255.255.255', 80, true],
    ['10.0.0.0/8', '11.0.0.0', 80, false],
    ['10.0.0.7/32', '10.0.0.7', 80, true],
    ['10.0.0.7/32', '10.0.0.8', 80, false],
    ['0.0.0.0/0', '203.0.113.9', 80, true],
    ['0.0.0.0/0', 'example.com', 80, false],
    ['0.0.0.0/0', '[::1]', 80, false],
    ['192.168.1.130/25', '192.168.1.129', 80, true],
    ['192.168.1.130/25', '192.168.1.127', 80, false],
    ['[::1]', '[::1]', 80, true],
    ['[::1]', '::1', 80, true],
    ['[::1]', '[0:0:0:0:0:0:0:1]', 80, true],
    ['[::1]:80', '[::1]', 81, false],
    ['[::1]', '127.0.0.1', 80, false],
    ['example.com', '', 80, false],
    ['example.com', 'exa mple.com', 80, false],
    ['*.example.com', '*.example.com', 80, false],
  ])('%s: %s %i %s', (target, host, port, expected) => {
    expect(permits(target, host, port)).toBe(expected)
  })
})
