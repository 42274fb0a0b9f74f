/** docs/contract.md#sign-in-providers: sign-in providers as administrators of the instance set them up. */
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const { administrator, anonymous } = world
const providers = '/api/system/providers'
const shop = await world.workspace('providers', { articles: { title: 'string' } })
const reading = await people.roleWith(shop, { collections: { articles: { read: 'all' } } })
const insider = await people.memberWith(shop, [await people.administratorRole(shop)])

const openId = { issuer: 'https://id.example.com', clientId: 'ours', clientSecret: 'a secret of theirs' }
const plain = {
  authorizationEndpoint: 'https://id.example.com/authorize',
  tokenEndpoint: 'https://id.example.com/token',
  userinfoEndpoint: 'https://api.example.com/user',
  clientId: 'ours',
  clientSecret: 'secret',
}

it('creates an OpenID Connect provider and never shows its secret', async () => {
  const provider = { ...openId, name: name(), clientSecret: 'canary-of-a-client-secret' }

  const response = await administrator.post(providers, provider)
  const answers = [
    await response.clone().text(),
    await (await administrator.get(`${providers}/${provider.name}`)).text(),
    await (await administrator.get(`${providers}?filter[name][_eq]=${provider.name}`)).text(),
    await (await administrator.patch(`${providers}/${provider.name}`, { clientSecret: provider.clientSecret })).text(),
    await (
      await administrator.get(
        '/api/system/audit-log?filter[action][_starts_with]=provider&sort[0][time][direction]=desc',
      )
    ).text(),
    await readFile(world.logFile, 'utf8'),
  ]

  expect(response.status).toBe(201)
  expect(await response.json()).toEqual({
    data: {
      id: expect.any(String),
      name: provider.name,
      issuer: openId.issuer,
      authorizationEndpoint: null,
      tokenEndpoint: null,
      userinfoEndpoint: null,
      emailsEndpoint: null,
      claims: { subject: 'sub', email: 'email', emailVerified: 'email_verified' },
      clientAuthentication: null,
      clientId: 'ours',
      scopes: ['openid', 'email', 'profile'],
      enabled: true,
      autoJoin: null,
      createdAt: expect.stringMatching(/Z$/),
    },
  })
  expect(answers.filter((text) => text.includes(provider.clientSecret))).toEqual([])
})

it('creates a plain OAuth 2.0 provider by its endpoints', async () => {
  const provider = { ...plain, name: name(), scopes: ['user:email'], claims: { subject: 'id' } }

  const response = await administrator.post(providers, provider)

  expect(response.status).toBe(201)
  expect(await response.json()).toMatchObject({
    data: {
      issuer: null,
      tokenEndpoint: plain.tokenEndpoint,
      claims: { subject: 'id', email: 'email', emailVerified: 'email_verified' },
      clientAuthentication: 'basic',
      scopes: ['user:email'],
    },
  })
})

it('changes and deletes a provider', async () => {
  const known = await made(openId)

  const changed = await administrator.patch(known, { enabled: false, scopes: ['openid'], clientId: 'new' })
  const deleted = await administrator.delete(known)
  const gone = [await administrator.get(known), await administrator.patch(known, {}), await administrator.delete(known)]

  expect(await changed.json()).toMatchObject({
    data: { enabled: false, scopes: ['openid'], clientId: 'new', issuer: openId.issuer },
  })
  expect(deleted.status).toBe(204)
  expect(gone.map(({ status }) => status)).toEqual([404, 404, 404])
  expect(await gone[0]?.json()).toEqual({ message: 'Provider does not exist' })
})

it('sends a secret to no other address than it was given for', async () => {
  const known = await made(plain)
  const elsewhere = { tokenEndpoint: 'https://elsewhere.example.com/token' }

  const kept = await administrator.patch(known, elsewhere)
  const moved = await administrator.patch(known, { ...elsewhere, clientSecret: 'theirs' })

  expect(kept.status).toBe(422)
  expect(await kept.json()).toMatchObject({ source: { message: 'clientSecret' } })
  expect(await moved.json()).toMatchObject({ data: elsewhere })
})

it('tells anyone the names of those that can be used', async () => {
  const [used, off] = [name(), name()]
  await administrator.post(providers, { ...openId, name: used })
  await administrator.post(providers, { ...openId, name: off, enabled: false })

  const response = await anonymous.get('/api/auth/providers')

  const { data } = (await response.json()) as { data: object[] }
  expect(response.status).toBe(200)
  expect(data).toContainEqual({ name: used })
  expect(data).not.toContainEqual({ name: off })
})

it('answers 409 for a name that is taken', async () => {
  const provider = { ...openId, name: name() }

  const statuses = [
    (await administrator.post(providers, provider)).status,
    (await administrator.post(providers, provider)).status,
  ]

  expect(statuses).toEqual([201, 409])
})

it.each([
  ['no name', { name: undefined }, 'name'],
  ['a name that is no part of an address', { name: '../token' }, 'name'],
  ['the name of the way in with a password', { name: 'local' }, 'name'],
  ['no client id', { clientId: undefined }, 'clientId'],
  ['no client secret', { clientSecret: undefined }, 'clientSecret'],
  ['a client id with a line break', { clientId: 'a\nb' }, 'clientId'],
  ['neither issuer nor endpoints', { issuer: undefined }, 'authorizationEndpoint'],
  ['issuer and endpoints', { tokenEndpoint: plain.tokenEndpoint }, 'tokenEndpoint'],
  ['an issuer that is no address', { issuer: 'id.example.com' }, 'issuer'],
  ['an issuer without TLS', { issuer: 'http://id.example.com' }, 'issuer'],
  ['an issuer with a password', { issuer: 'https://me:secret@id.example.com' }, 'issuer'],
  ['an issuer that is no web address', { issuer: 'file:///etc/passwd' }, 'issuer'],
  ['an issuer with a query', { issuer: 'https://id.example.com?a=b' }, 'issuer'],
  ['scopes without openid', { scopes: ['email'] }, 'scopes'],
  ['another subject than an issuer gives', { claims: { subject: 'email' } }, 'claims.subject'],
  ['a scope with a space', { scopes: ['openid email'] }, 'scopes[0]'],
  ['a workspace that does not exist', { autoJoin: autoJoin({ workspace: 'nowhere_at_all' }) }, 'autoJoin.workspace'],
  ['a role that does not exist', { autoJoin: autoJoin({ roleId: crypto.randomUUID() }) }, 'autoJoin.roleId[0]'],
  ['an unknown member', { secret: 'x' }, 'unknown field secret'],
  ['an id', { id: crypto.randomUUID() }, 'unknown field id'],
])('answers 422 for %s, naming the place', async (_, change, place) => {
  const response = await administrator.post(providers, { name: name(), ...openId, ...change })

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: place } })
})

it('needs no secret for a change that sends it nowhere else', async () => {
  const known = await made(plain)

  const changed = await administrator.patch(known, {
    clientAuthentication: 'post',
    claims: { emailVerified: 'verified' },
  })

  expect(await changed.json()).toMatchObject({
    data: { clientAuthentication: 'post', claims: { subject: 'sub', email: 'email', emailVerified: 'verified' } },
  })
})

it.each([
  ['an endpoint of another kind', { userinfoEndpoint: 'https://id.example.com/me' }, 'userinfoEndpoint'],
  [
    'its name',
    { name: 'another' },
    'unknown field name; allowed: issuer, authorizationEndpoint, tokenEndpoint, userinfoEndpoint, emailsEndpoint, claims, clientAuthentication, clientId, clientSecret, scopes, enabled, autoJoin',
  ],
  ['scopes without openid', { scopes: [] }, 'scopes'],
  ['an issuer without TLS', { issuer: 'http://id.example.com', clientSecret: 'x' }, 'issuer'],
])('answers 422 for a change of %s', async (_, change, place) => {
  const known = await made(openId)

  const response = await administrator.patch(known, change)

  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ source: { message: place } })
})

it('lets whoever signs in join with a role that its administrator could assign', async () => {
  const known = await made({ ...openId, autoJoin: { workspace: shop.name, roleId: reading } })

  const read = await administrator.get(`${known}?fields=autoJoin`)
  const ended = await administrator.patch(known, { autoJoin: null })

  expect(await read.json()).toEqual({ data: { autoJoin: { workspace: shop.name, roleId: reading } } })
  expect(await ended.json()).toMatchObject({ data: { autoJoin: null } })
})

it('lets nobody join as Administrator or as Public', async () => {
  const roles = [await people.administratorRole(shop), await people.publicRole(shop)]

  const answers = await Promise.all(
    roles.map((roleId) => administrator.post(providers, { ...openId, name: name(), autoJoin: autoJoin({ roleId }) })),
  )

  expect(answers.map(({ status }) => status)).toEqual([422, 422])
})

it('lets no administrator of the instance give away what they do not hold in the workspace', async () => {
  const outsider = await people.memberWith(await world.workspace('outside', {}), [])
  await administrator.patch(`/api/system/users/${outsider.userId}`, { isAdministrator: true })

  const response = await outsider.system.post(providers, { ...openId, name: name(), autoJoin: autoJoin({}) })
  const without = await outsider.system.post(providers, { ...openId, name: name() })

  expect([response.status, without.status]).toEqual([403, 201])
})

it('stops joining when the role is deleted', async () => {
  const role = await people.roleWith(shop, {})
  const known = await made({ ...openId, autoJoin: autoJoin({ roleId: role }) })

  await shop.delete(`/roles/${role}`)

  expect(await (await administrator.get(`${known}?fields=autoJoin`)).json()).toEqual({ data: { autoJoin: null } })
})

it.each([
  ['GET', providers],
  ['POST', providers],
  ['GET', `${providers}/some`],
  ['PATCH', `${providers}/some`],
  ['DELETE', `${providers}/some`],
])('is for administrators of the instance: %s %s', async (method, path) => {
  const request = method === 'GET' ? {} : { body: {} }

  const answers = [await anonymous.send(method, path, request), await insider.system.send(method, path, request)]

  expect(answers.map(({ status }) => status)).toEqual([403, 403])
})

it('records what was done, without the secret', async () => {
  const known = await made(openId)
  const { data: provider } = (await (await administrator.get(`${known}?fields=id,name`)).json()) as {
    data: { id: string; name: string }
  }
  await administrator.patch(known, { enabled: false, clientSecret: 'another' })
  await administrator.delete(known)

  const response = await administrator.get(
    `/api/system/audit-log?filter[targetType][_eq]=provider&filter[targetId][_eq]=${provider.id}&sort[0][action][direction]=asc&fields=action,label,outcome,payload`,
  )

  const { data } = (await response.json()) as { data: object[] }
  expect(data).toEqual([
    {
      action: 'provider.create.v1',
      label: 'Sign-in provider created',
      outcome: 'success',
      payload: { name: provider.name, enabled: true, scopes: ['openid', 'email', 'profile'], autoJoin: null },
    },
    {
      action: 'provider.delete.v1',
      label: 'Sign-in provider deleted',
      outcome: 'success',
      payload: { name: provider.name },
    },
    {
      action: 'provider.update.v1',
      label: 'Sign-in provider changed',
      outcome: 'success',
      payload: { name: provider.name, enabled: false, clientSecret: 'changed' },
    },
  ])
})

function name(): string {
  return world.name('p').replaceAll('_', '-')
}

function autoJoin(change: object): object {
  return { workspace: shop.name, roleId: reading, ...change }
}

/** Answers the path of a new provider. */
async function made(provider: object): Promise<string> {
  const made = { name: name(), ...provider }
  const response = await administrator.post(providers, made)
  if (response.status !== 201) throw new Error(await response.text())
  return `${providers}/${made.name}`
}
