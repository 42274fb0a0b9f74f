/**
 * The matcher table: what a granted target lets through and what it does not, written from
 * docs/contract.md#connector-permissions. The pure function and the gates of both platforms are all held to it.
 * Addresses stand as a connector would write them into a URL.
 */
export type NetworkRow = {
  /** In normal form, without `net:`. */
  readonly target: string
  readonly host: string
  readonly port: number
  readonly permitted: boolean
}

type Rule = { readonly target: string; readonly yes: readonly string[]; readonly no: readonly string[] }

const rules: readonly Rule[] = [
  {
    target: 'example.com',
    yes: [
      'example.com:80',
      'example.com:443',
      'example.com:1',
      'example.com:65535',
      'EXAMPLE.com:443',
      'example.com.:443',
      'ｅｘａｍｐｌｅ.com:443',
    ],
    no: [
      ...['www.example.com:443', 'evil-example.com:443', 'example.com.evil.net:443', 'example.org:443', 'com:443'],
      ...['example.co:443', 'xexample.com:443', 'example.comx:443', '93.184.216.34:443', 'localhost:443', '[::1]:443'],
    ],
  },
  {
    target: 'example.com:443',
    yes: ['example.com:443', 'Example.Com:443', 'example.com.:443'],
    no: ['example.com:80', 'example.com:8443', 'example.com:4430', 'www.example.com:443', 'example.com:44'],
  },
  {
    target: '*.example.com',
    yes: [
      'example.com:443',
      'www.example.com:443',
      'a.b.c.example.com:80',
      'WWW.Example.com:8080',
      'www.example.com.:443',
      'a_b.example.com:443',
    ],
    no: [
      ...['evil-example.com:443', 'evilexample.com:443', 'example.com.evil.net:443', 'example.org:443', 'com:443'],
      ...['www.example.co:443', 'example.com-evil.net:443', '127.0.0.1:443', '[::1]:443'],
    ],
  },
  {
    target: '*.example.com:8080',
    yes: ['example.com:8080', 'www.example.com:8080', 'a.b.example.com:8080'],
    no: ['example.com:80', 'www.example.com:443', 'www.example.com:80', 'evil-example.com:8080'],
  },
  {
    target: 'www.example.com',
    yes: ['www.example.com:443'],
    no: ['example.com:443', 'a.www.example.com:443', 'ww.example.com:443', 'wwww.example.com:443'],
  },
  {
    target: 'localhost',
    yes: ['localhost:80', 'LOCALHOST:3000', 'localhost.:80'],
    no: [
      ...['127.0.0.1:80', '[::1]:80', '0.0.0.0:80', 'localhost.localdomain:80', 'a.localhost:80', '127.1:80'],
      ...['[::ffff:127.0.0.1]:80', '2130706433:80', 'localhost.example.com:80', 'ip6-localhost:80'],
    ],
  },
  { target: 'localhost:3000', yes: ['localhost:3000'], no: ['localhost:80', 'localhost:30000', '127.0.0.1:3000'] },
  {
    target: '127.0.0.1',
    // Other spellings of the same address: a URL knows only the one form.
    yes: [
      ...[
        '127.0.0.1:80',
        '127.0.0.1:65535',
        '127.1:80',
        '127.0.1:80',
        '2130706433:80',
        '0x7f000001:80',
        '0177.0.0.1:80',
      ],
      ...['0x7f.1:80', '127.0.0.1.:80', '１２７.0.0.1:80', '[::ffff:127.0.0.1]:80', '[::ffff:7f00:1]:80'],
    ],
    no: [
      ...[
        'localhost:80',
        '[::ffff:127.0.0.2]:80',
        '127.0.0.2:80',
        '127.0.0.10:80',
        '0.0.0.0:80',
        '128.0.0.1:80',
        '[::1]:80',
      ],
      ...['127.0.0.1.example.com:80', '127.0.0.1.nip.io:80', '2130706434:80', '[::127.0.0.1]:80'],
    ],
  },
  { target: '127.0.0.1:8080', yes: ['127.0.0.1:8080', '127.1:8080'], no: ['127.0.0.1:80', 'localhost:8080'] },
  {
    target: '10.0.0.0/8',
    yes: ['10.0.0.0:80', '10.1.2.3:443', '10.255.255.255:22', '167772161:80', '[::ffff:10.1.2.3]:80'],
    no: [
      '9.255.255.255:80',
      '11.0.0.0:80',
      '127.0.0.1:80',
      '10.example.com:80',
      'localhost:80',
      '[::a01:203]:80',
      '[::1]:80',
    ],
  },
  {
    target: '[::ffff:a01:203]',
    yes: ['10.1.2.3:80', '[::ffff:10.1.2.3]:80', '[0:0:0:0:0:FFFF:0A01:0203]:443'],
    no: ['10.1.2.4:80', '[::a01:203]:80'],
  },
  {
    target: '192.168.1.0/24',
    yes: ['192.168.1.0:80', '192.168.1.255:80', '0xc0a80101:80'],
    no: ['192.168.0.255:80', '192.168.2.0:80', '192.168.10.1:80'],
  },
  { target: '203.0.113.7/32', yes: ['203.0.113.7:80'], no: ['203.0.113.6:80', '203.0.113.8:80'] },
  {
    target: '0.0.0.0/0',
    yes: ['1.2.3.4:80', '255.255.255.255:80', '127.0.0.1:80'],
    no: ['example.com:80', '[::1]:80', '[2001:db8::1]:80'],
  },
  {
    target: '[::1]',
    yes: ['[::1]:80', '[0:0:0:0:0:0:0:1]:80', '[0000::0001]:443'],
    no: ['127.0.0.1:80', 'localhost:80', '[::2]:80', '[::]:80', '[::ffff:127.0.0.1]:80', '[::1:1]:80'],
  },
  { target: '[::1]:8080', yes: ['[::1]:8080'], no: ['[::1]:80', '127.0.0.1:8080', '[::2]:8080'] },
  {
    target: '[2001:db8::1]',
    yes: ['[2001:db8::1]:443', '[2001:DB8:0:0:0:0:0:1]:443', '[2001:0db8::0001]:80'],
    no: ['[2001:db8::2]:443', '[2001:db8:1::1]:443', '[2001:db8::1:1]:443'],
  },
  {
    target: 'xn--bcher-kva.example',
    yes: ['bücher.example:443', 'BÜCHER.example:443', 'xn--bcher-kva.example:443'],
    no: ['bucher.example:443'],
  },
]

export const networkRows: readonly NetworkRow[] = rules.flatMap(({ target, yes, no }) => [
  ...yes.map((address) => ({ target, ...split(address), permitted: true })),
  ...no.map((address) => ({ target, ...split(address), permitted: false })),
])

/** The host as a URL gives it to whoever connects. */
export function hostInUrl({ host, port }: NetworkRow): string {
  return new URL(`http://${host}:${port}/`).hostname
}

function split(address: string): { readonly host: string; readonly port: number } {
  const end = address.lastIndexOf(':')
  return { host: address.slice(0, end), port: Number(address.slice(end + 1)) }
}
