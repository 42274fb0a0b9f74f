/**
 * People of a workspace who hold what a policy says, made the way an Administrator makes them: policy, role,
 * invitation, acceptance, sign-in.
 *
 *   const reader = await people.member(shop, { collections: { articles: { read: 'all' } } })
 *   const response = await reader.get('/items/articles')
 */
import { randomBytes } from 'node:crypto'
import { tokenIn } from './mailed-token.ts'
import { mails } from './mails.ts'
import { type Client, type Workspace, world } from './world.ts'

export type Person = Client & {
  readonly userId: string
  readonly email: string
  readonly password: string
  readonly token: string
  /** The same person outside of the workspace. */
  readonly system: Client
}

export type Content = {
  readonly entitlements?: readonly string[]
  readonly collections?: Readonly<Record<string, unknown>>
}

export const people = {
  policy,
  role,
  roleWith,
  administratorRole,
  publicRole,
  member,
  memberWith,
  invite,
  login,
  email,
}

/** Answers the policy's id. */
async function policy(shop: Workspace, content: Content, name = text('policy')): Promise<string> {
  return made(await shop.post('/policies', { name, content }))
}

/** Answers the id of a role with these policies. */
async function role(shop: Workspace, policies: readonly string[], name = text('role')): Promise<string> {
  return made(await shop.post('/roles', { name, policies }))
}

/** Answers the id of a role that brings one policy. */
async function roleWith(shop: Workspace, content: Content): Promise<string> {
  return role(shop, [await policy(shop, content)])
}

function administratorRole(shop: Workspace): Promise<string> {
  return builtIn(shop, 'administrator')
}

function publicRole(shop: Workspace): Promise<string> {
  return builtIn(shop, 'public')
}

async function builtIn(shop: Workspace, kind: string): Promise<string> {
  const [found] = (await shop.data(`/roles?filter[kind][_eq]=${kind}&fields=id`)) as { id: string }[]
  return found?.id ?? ''
}

/** A member of a role that brings one policy. */
async function member(shop: Workspace, content: Content): Promise<Person> {
  return memberWith(shop, [await roleWith(shop, content)])
}

async function memberWith(shop: Workspace, roles: readonly string[]): Promise<Person> {
  const [address, password] = [email(), text('password')]
  const token = await invite(shop, address, roles)
  const response = await world.anonymous.post('/api/auth/invitations/accept', { token, password })
  return login(shop, { userId: await made(response), email: address, password })
}

/** Answers the token that the invited address was sent. */
async function invite(shop: Workspace, address: string, roles: readonly string[]): Promise<string> {
  await made(await shop.post('/invitations', { email: address, workspace_roles: roles }))
  return tokenIn(await mails.arrived(address, new RegExp(`^Invitation to the workspace ${shop.name}$`)))
}

async function login(
  shop: Workspace,
  account: { readonly userId: string; readonly email: string; readonly password: string },
): Promise<Person> {
  const credentials = { email: account.email, password: account.password }
  const response = await world.anonymous.post('/api/auth/login', { credentials, mode: 'json' })
  const { accessToken: token } = (await response.json()) as { accessToken: string }
  const system = world.bearer(token)
  const at = (path: string) => `/api/${shop.name}${path}`
  return {
    ...account,
    token,
    system,
    send: (method, path, request) => system.send(method, at(path), request),
    get: (path) => system.get(at(path)),
    post: (path, body) => system.post(at(path), body),
    patch: (path, body) => system.patch(at(path), body),
    delete: (path) => system.delete(at(path)),
  }
}

function email(): string {
  return `${text('person')}@example.com`
}

function text(stem: string): string {
  return `${stem}-${randomBytes(8).toString('hex')}`
}

async function made(response: Response): Promise<string> {
  const body = await response.text()
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${body}`)
  return (JSON.parse(body) as { data: { id: string } }).data.id
}
