import { expect, it } from 'vitest'
import type { ServiceError } from '../../../src/core/error.ts'
import { parseSqlAddress, type SqlProvider } from '../../../src/core/sql/address.ts'

const parts = { host: 'db.example.com', database: 'shop', user: 'ada', password: 'p' }

it('knows the usual ports, and asks for TLS outside of loopback', () => {
  const auth = { kind: 'password', password: 'p' }
  const verified = { kind: 'verify', ca: undefined }

  expect(parseSqlAddress('postgres', parts)).toEqual({
    provider: 'postgres',
    host: 'db.example.com',
    port: 5432,
    database: 'shop',
    user: 'ada',
    auth,
    tls: verified,
  })
  expect(parseSqlAddress('mariadb', { ...parts, database: undefined })).toMatchObject({ port: 3306, tls: verified })
})

it.each<[string, unknown, object]>([
  ['localhost', undefined, { kind: 'off' }],
  ['127.0.0.1', undefined, { kind: 'off' }],
  ['::1', undefined, { kind: 'off' }],
  ['[::1]', undefined, { kind: 'off' }],
  ['127.0.0.1', true, { kind: 'verify', ca: undefined }],
  ['db.example.com', false, { kind: 'off' }],
  ['localhost.example.com', undefined, { kind: 'verify', ca: undefined }],
])('TLS to %s with %j', (host, tls, expected) => {
  expect(parseSqlAddress('mysql', { ...parts, host, ...(tls !== undefined && { tls }) }).tls).toEqual(expected)
})

it.each<[SqlProvider, string, object]>([
  [
    'postgres',
    'postgres://ada%40x:p%3Aw%2F@[2001:db8::1]:6432/my%20shop?sslmode=require&channel_binding=require',
    {
      host: '2001:db8::1',
      port: 6432,
      database: 'my shop',
      user: 'ada@x',
      auth: { kind: 'password', password: 'p:w/' },
    },
  ],
  ['neon', 'postgresql://a:b@ep-1.eu.aws.neon.tech/neondb?sslmode=require', { port: 5432, tls: { kind: 'verify' } }],
  ['postgres', 'postgres://a:b@db.example.com/d?sslmode=disable', { tls: { kind: 'off' } }],
  ['mysql', 'mysql://a:b@db.example.com', { port: 3306, database: undefined }],
  ['planetscale', 'mysql://a:b@aws.connect.psdb.cloud/d?ssl={"rejectUnauthorized":true}', { tls: { kind: 'verify' } }],
  ['planetscale', 'mysql://a:b@aws.connect.psdb.cloud/d?sslaccept=strict', { tls: { kind: 'verify' } }],
])('reads a string for %s: %s', (provider, connectionString, expected) => {
  expect(parseSqlAddress(provider, { connectionString })).toMatchObject(expected)
})

it.each([
  'sslmode=prefer',
  'sslmode=no-verify',
  'sslrootcert=/etc/passwd',
  'options=-c%20search_path%3Dx',
  'host=10.0.0.1',
  'ssl={"rejectUnauthorized":false}',
  'toString=1',
  'constructor=1',
])('refuses a string with %s', (search) => {
  const read = () => parseSqlAddress('postgres', { connectionString: `postgres://a:secret@h/d?${search}` })

  expect(messagesOf(read)).toEqual([
    'Failed to read the JSON body',
    'config.connectionString',
    `has the parameter ${search.split('=')[0]}, which is not supported so`,
  ])
})

it.each(['a/b', 'a@b', 'a b', 'a?b', 'a#b', 'a%2Fb', ':::', '[::1', 'a:80', '1.2.3.256', '"', '\\'])(
  'takes no host for what could end one: %s',
  (host) => {
    expect(messagesOf(() => parseSqlAddress('neon', { ...parts, host })).slice(1)).toEqual([
      'config.host',
      'must be the name or the address of a host',
    ])
  },
)

it.each(['db.example.com', 'db', 'DB_1.example.com.', 'bücher.example', '10.0.0.1', '2001:db8::1', '[2001:db8::1]'])(
  'takes %s for a host',
  (host) => {
    expect(parseSqlAddress('neon', { ...parts, host }).host).toBe(host.replace(/[[\]]/g, ''))
  },
)

it.each(['\n', '\u0000', '\ud800'])('takes no text that could end a line of a protocol: %j', (character) => {
  const read = () => parseSqlAddress('postgres', { ...parts, user: `a${character}` })

  expect(messagesOf(read)[1]).toBe('config.user')
})

it('never repeats what was sent', () => {
  const faults = [
    () => parseSqlAddress('postgres', { connectionString: 'mysql://a:secret@h/d' }),
    () => parseSqlAddress('postgres', { ...parts, password: 'secret', host: 'secret/' }),
    () => parseSqlAddress('postgres', { ...parts, password: 'secret', tls: 'secret' }),
    () => parseSqlAddress('postgres', { connectionString: 'secret' }),
  ]

  for (const fault of faults) expect(messagesOf(fault).join()).not.toContain('secret')
})

function messagesOf(work: () => unknown): readonly string[] {
  try {
    work()
  } catch (error) {
    const messages: string[] = []
    for (let at = error as ServiceError | undefined; at !== undefined; at = at.cause as ServiceError | undefined) {
      messages.push(at.message)
    }
    return messages
  }
  throw new Error('nothing was thrown')
}
