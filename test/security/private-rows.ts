/**
 * The table of hosts that are not of the public network, however they are spelled. Every way out of the service is held to
 * it: data sources, connectors, sign-in providers.
 */

/** By range, as IANA's registries of special addresses name them. */
export const privateAddresses: readonly string[] = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.0.1'],
  ...['169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1'],
  ...['192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255'],
  ...['240.0.0.1', '255.255.255.255'],
  // Unspecified, loopback, link-local, site-local, unique-local, multicast, discard.
  ...['::', '::1', 'fe80::1', 'febf::1', 'fec0::1', 'fc00::1', 'fd12:3456::1', 'ff02::1', '100::1'],
  // An IPv4 address within: mapped, translated, compatible, NAT64 (well known and local), 6to4, Teredo, ISATAP's link.
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.1.2.3', '::ffff:0:127.0.0.1', '::127.0.0.1', '::7f00:1'],
  ...[
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::7f00:1',
    '64:ff9b:1:abcd::1',
    '2002:7f00:1::',
    '2002:a00:1::1',
  ],
  ...['2001:0:4136:e378:8000:63bf:80ff:fffe', 'fe80::5efe:7f00:1'],
  // Documentation, benchmarking, ORCHID, what nobody was given.
  ...['2001:db8::1', '3fff::1', '3fff:fff::1', '2001:2::1', '2001:10::1', '2001:20::1', '5f00::1', '8000::1'],
]

export const privateNames: readonly string[] = [
  ...['127.1', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '017700000001', '127.0.0.1.', '0', '0x0'],
  ...['10.1', '0xa000001', '3232235777', '[::1]', '[::ffff:7f00:1]', '0:0:0:0:0:0:0:1', 'fe80::1%eth0'],
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'db.localhost',
    'printer.local',
    'db.internal',
    'metadata.google.internal',
  ],
  ...['router.lan', 'nas.home.arpa', 'postgres', 'postgres.', '１２７.0.0.1', '127。0。0。1', 'ｌｏｃａｌｈｏｓｔ'],
]

export const publicHosts: readonly string[] = [
  ...['db.example.com', 'example.com.', '8.8.8.8', '172.32.0.1', '100.128.0.1', '192.169.0.1', '2606:4700::1111'],
  ...['[2606:4700::1111]', '2a00:1450::1', 'localhost.example.com', 'xn--bcher-kva.example'],
]

/** The host as it stands in an address. */
export function inUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host.replace(/%.*$/, '')}]` : host
}
