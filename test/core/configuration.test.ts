/** docs/configuration.md says what src/config.ts reads. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { configurationPage } from '../../scripts/generate-docs.ts'
import { readConfig, settingsOf, variables } from '../../src/config.ts'
import { USUAL_LIST } from '../../src/core/plan/budget.ts'

/** Code but for the list itself and what is said of it. */
const readers = textsOf(['src', 'handlers', 'scripts'], '.ts').filter(
  ({ path }) => path !== 'src/config.ts' && path !== 'scripts/variable-descriptions.ts',
)
const pages = [...textsOf(['docs'], '.md'), textOf('README.md')]

/** A bucket of S3, all of it. */
const bucket = {
  SERVICE_FILES__STORE: 's3',
  SERVICE_FILES__S3__ENDPOINT: 'http://127.0.0.1:9000/base',
  SERVICE_FILES__S3__BUCKET: 'files',
  SERVICE_FILES__S3__ACCESS_KEY_ID: 'key',
  SERVICE_FILES__S3__SECRET_ACCESS_KEY: 'hidden',
}

/** Of the tests, and of other programs. */
const elsewhere = /^SERVICE_TEST_/

it('is documented by a page that is current', () => {
  expect(readFileSync('docs/configuration.md', 'utf8')).toBe(configurationPage())
})

it('has the documented value of each default', () => {
  const defaults = [...configurationPage().matchAll(/^\| `(\w+)` \| `(.+?)` \|/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ])

  const documented = readConfig(Object.fromEntries(defaults))
  const empty = readConfig({})

  expect(defaults.length).toBeGreaterThan(0)
  expect(documented).toEqual(empty)
})

it('lets a read bring two lists of the usual length within each other', () => {
  const read = readConfig({ SERVICE_QUERY__MAX_ROWS: String(100 * USUAL_LIST ** 2) })

  expect(read).toMatchObject({ kind: 'valid', config: { SERVICE_QUERY_LIMIT_DEFAULT: 100 } })
  expect(readConfig({})).toEqual(read)
})

it('has no variable that nobody reads but one, which permits what no release does, decision 031', () => {
  const unread = Object.keys(variables).filter((name) => {
    const isRead = new RegExp(`\\.${name}\\b|const \\{[^{}]*\\b${name}\\b[^{}]*\\} =`)
    return !readers.some(({ code }) => isRead.test(code))
  })

  expect(unread).toEqual(['SERVICE_INSTANCE_OWNER_SYNC_ENABLED'])
})

it('has every variable that code and pages name', () => {
  const named = [...readers, ...pages].flatMap(({ path, code }) =>
    [...code.matchAll(/\bSERVICE_[A-Z_]*[A-Z]\b(?!_|\*)/g)].map(([name]) => ({ path, name })),
  )

  expect(named.filter(({ name }) => !(name in variables) && !elsewhere.test(name))).toEqual([])
})

it('has every variable in the page', () => {
  const documented = [...configurationPage().matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)

  expect(documented).toEqual(Object.keys(variables))
})

it.each([
  'smtp://mail.example.com',
  'smtps://user:password@mail.example.com:465',
  'https://:token@mail.example.com/send?tag=1',
  'http://127.0.0.1:8025/mails',
  'log:',
])('takes %s as the way that mails go', (url) => {
  expect(readConfig({ SERVICE_MAIL__URL: url, SERVICE_MAIL__FROM: 'Data <data@example.com>' }).kind).toBe('valid')
})

it.each([
  [{ SERVICE_MAIL__URL: 'mail.example.com' }, /^SERVICE_MAIL__URL must be an smtp/],
  [{ SERVICE_MAIL__URL: 'http://:hidden@mail.example.com/send' }, /^SERVICE_MAIL__URL must be an smtp/],
  [{ SERVICE_MAIL__URL: 'smtp:' }, /^SERVICE_MAIL__URL must be an smtp/],
  [{ SERVICE_MAIL__FROM: 'Data <data>' }, /^SERVICE_MAIL__FROM must be an e-mail address/],
  [{ SERVICE_MAIL__FROM: 'Data\r\nBcc: <eve@example.com>' }, /^SERVICE_MAIL__FROM must be an e-mail address/],
  [{ SERVICE_MAIL__URL: 'log:', SERVICE_BASE_URL: 'https://data.example.com' }, /^SERVICE_MAIL__URL may be log: only/],
  [{ SERVICE_INVITATION_URL: 'https://app.example.com/hidden' }, /^SERVICE_INVITATION_URL must be an http or https/],
  [{ SERVICE_RESET_URL: 'javascript:{token}' }, /^SERVICE_RESET_URL must be an http or https/],
  [{ SERVICE_CORS__ENABLED: 'true' }, /^SERVICE_CORS__ORIGIN must be set/],
  [{ SERVICE_CORS__ORIGIN: 'app.example.com' }, /^SERVICE_CORS__ORIGIN must be origins/],
  [{ SERVICE_SCHEMA__DRIFT_INTERVAL: '59s' }, /^SERVICE_SCHEMA__DRIFT_INTERVAL must be 0 or at least 1m/],
  [{ SERVICE_CORS__ORIGIN: 'https://app.example.com/path' }, /^SERVICE_CORS__ORIGIN must be origins/],
  [{ SERVICE_CORS__ORIGIN: 'https://app.example.com, *' }, /^SERVICE_CORS__ORIGIN must be origins/],
  [{ SERVICE_FILES__STORE: 'hidden' }, /^SERVICE_FILES__STORE must be folder, s3, r2 or database/],
  [{ SERVICE_FILES__TYPES: 'image/*, hidden' }, /^SERVICE_FILES__TYPES must be media types such as/],
  [{ SERVICE_FILES__TYPES: '*/*' }, /^SERVICE_FILES__TYPES must be media types such as/],
  [{ SERVICE_FILES__MAX_SIZE: '5 hidden' }, /^SERVICE_FILES__MAX_SIZE must be a number of bytes/],
  [{ SERVICE_FILES__CLEAN_INTERVAL: '59s' }, /^SERVICE_FILES__CLEAN_INTERVAL must be 0 or at least 1m/],
  [{ SERVICE_FILES__UPLOAD_TTL: 'a day' }, /^SERVICE_FILES__UPLOAD_TTL must be a duration/],
  [
    { ...bucket, SERVICE_FILES__S3__ENDPOINT: 'http://me:hidden@minio' },
    /^SERVICE_FILES__S3__ENDPOINT must be an http/,
  ],
  [{ ...bucket, SERVICE_FILES__S3__BUCKET: 'files/hidden' }, /^SERVICE_FILES__S3__BUCKET must be the name of a bucket/],
  [{ ...bucket, SERVICE_FILES__S3__SECRET_ACCESS_KEY: '' }, /^SERVICE_FILES__S3__SECRET_ACCESS_KEY must be set where/],
  [{ SERVICE_FILES__S3__BUCKET: 'hidden' }, /^SERVICE_FILES__STORE must be s3 where SERVICE_FILES__S3__BUCKET is set/],
])('refuses %j without repeating it', (environment, fault) => {
  const reading = readConfig(environment)

  expect(reading).toEqual({ kind: 'invalid', faults: [expect.stringMatching(fault)] })
  expect(JSON.stringify(reading)).not.toContain('hidden')
})

it('reads what reaches a bucket, and the media types of files in lower case', () => {
  const reading = readConfig({ ...bucket, SERVICE_FILES__TYPES: 'Image/*, application/vnd.oasis.opendocument.text' })

  expect(reading).toMatchObject({
    kind: 'valid',
    config: {
      ...bucket,
      SERVICE_FILES__S3__REGION: 'us-east-1',
      SERVICE_FILES__TYPES: ['image/*', 'application/vnd.oasis.opendocument.text'],
    },
  })
})

it.each([
  ['https://app.example.com', ['https://app.example.com']],
  ['https://app.example.com, http://localhost:3000', ['https://app.example.com', 'http://localhost:3000']],
])('reads the origins %s', (text, origins) => {
  const reading = readConfig({ SERVICE_AUTH__REDIRECT_ORIGINS: text })

  expect(reading).toMatchObject({ kind: 'valid', config: { SERVICE_AUTH__REDIRECT_ORIGINS: origins } })
})

it.each([
  '*',
  'null',
  'app.example.com',
  'https://app.example.com/',
  'https://app.example.com/path',
  'https://*.example.com',
  'https://me@app.example.com',
  'https://app.example.com,',
  'javascript://app.example.com',
])('refuses %s as origins', (text) => {
  const reading = readConfig({ SERVICE_AUTH__REDIRECT_ORIGINS: text })

  expect(reading).toEqual({
    kind: 'invalid',
    faults: [expect.stringMatching(/^SERVICE_AUTH__REDIRECT_ORIGINS must be origins/)],
  })
})

it('tells of every variable whether it is set, and of none what may be a secret', () => {
  const hidden = 'hidden-of-thirty-two-bytes-or-more'
  const given = {
    ...Object.fromEntries(Object.keys(variables).map((name) => [name, hidden])),
    ...bucket,
    SERVICE_FILES__S3__SECRET_ACCESS_KEY: hidden,
    SERVICE_MAIL__URL: `smtp://user:${hidden}@mail.example.com`,
    SERVICE_TELEMETRY__URL: `https://user:${hidden}@telemetry.example.com/${hidden}?${hidden}`,
    SERVICE_BASE_URL: `https://user:${hidden}@example.com/data/?${hidden}`,
    SERVICE_DATABASE_URL: `postgres://user:${hidden}@db.example.com/main`,
    SERVICE_INVITATION_URL: `https://app.example.com/${hidden}#{token}`,
    SERVICE_LICENSE__PUBLIC_KEY: JSON.stringify({ kty: 'OKP', crv: 'Ed25519', x: 'a'.repeat(43) }),
    SERVICE_ADMIN__EMAIL: 'admin@example.com',
    SERVICE_HTTP__TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    SERVICE_REFRESH_TOKEN_TTL: '14d',
    SERVICE_FILES__MAX_SIZE: '10MiB',
    SERVICE_SOURCES__AWS_ROLES: `[{"roleArn":"arn:aws:iam::123456789012:role/${hidden}","externalId":"${hidden}"}]`,
  }
  const refused = readConfig(given)
  const wrong = refused.kind === 'invalid' ? refused.faults.map((fault) => fault.split(' ')[0]) : []
  const right = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.includes(name)))
  const reading = readConfig(right)
  const settings = reading.kind === 'valid' ? settingsOf(reading.config, 8123) : []
  const told = Object.fromEntries(settings.map(({ name, value }) => [name, value]))

  expect(settings.map(({ name }) => name)).toEqual(Object.keys(variables))
  expect(JSON.stringify(settings)).not.toContain(hidden)
  expect(settings.filter(({ isSet }) => isSet).map(({ name }) => name)).toEqual(
    Object.keys(variables).filter((name) => name in right),
  )
  expect(Object.keys(right)).toEqual(expect.arrayContaining(['SERVICE_SECRET', 'SERVICE_SETUP_TOKEN']))
  expect(told).toMatchObject({
    SERVICE_BASE_URL: 'https://example.com/data',
    SERVICE_TELEMETRY__URL: 'https://telemetry.example.com',
    SERVICE_INVITATION_URL: 'https://app.example.com',
    SERVICE_HTTP__TRUSTED_PROXIES: '10.0.0.0/8,::1/128',
    SERVICE_REFRESH_TOKEN_TTL: '14d',
    SERVICE_FILES__MAX_SIZE: '10MiB',
    SERVICE_ACCESS_TOKEN_TTL: '15m',
    SERVICE_MAIL__URL: null,
    SERVICE_SECRET: null,
    SERVICE_FILES__QUOTA: null,
    PORT: '8123',
  })
  const elsewhere = reading.kind === 'valid' ? settingsOf(reading.config, undefined) : []
  expect(elsewhere.find(({ name }) => name === 'PORT')).toEqual({ name: 'PORT', isSet: false, value: null })
})

it('keeps whole addresses, which may hold tokens, out of the log of Workers', () => {
  expect(readFileSync('wrangler.toml', 'utf8')).toMatch(
    /^\[observability\.logs\]\nenabled = true\ninvocation_logs = false$/m,
  )
})

function textsOf(folders: readonly string[], end: string) {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(end))
      .map((name) => textOf(join(folder, name))),
  )
}

/** Without comments. */
function textOf(path: string) {
  return { path, code: readFileSync(path, 'utf8').replace(/^\s*(\/?\*|\/\/).*$/gm, '') }
}
