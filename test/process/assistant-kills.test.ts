/**
 * docs/contract.md#assistant: a service that is killed by SIGKILL behind any message of a decision runs an approved call at most once,
 * and the conversation goes on.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Replica, startReplica } from '../migration/support/instance.ts'
import { effort } from '../support/run/effort.ts'
import { type ChatProvider, type ScriptedAnswer, startChatProvider } from '../support/servers/chat-provider.ts'
import { type Client, client } from '../support/service/client.ts'
import { type KilledService, openKilledService } from './killed-service.ts'

/** How many services are killed; those of the quick tier behind messages that are far from each other. */
const [KILLS, STRIDE] = effort() === 'full' ? [30, 1] : [1, 7]

const local = { SERVICE_AUTH__ALLOW_PRIVATE_PROVIDERS: 'true' }

let service: KilledService
let provider: ChatProvider
let steady: Replica
let calm: Client

beforeAll(async () => {
  service = await openKilledService()
  provider = await startChatProvider()
  steady = await startReplica(service.instance, local)
  calm = await clientAt(steady)
  const sent = { connector: 'openai', connectorOptions: { address: provider.url }, chatModel: 'm', dataLevel: 'rows' }
  expect((await calm.patch('/ai/settings', sent)).status).toBe(200)
})

afterAll(async () => {
  await steady?.kill()
  await provider?.close()
  await service?.close()
})

const clientAt = async (replica: Replica) =>
  client(`${replica.url}/api/killed`, { Authorization: `Bearer ${await service.tokenAt(replica)}` })

const creates = (title: string): ScriptedAnswer => ({
  calls: [{ tool: 'create_items', arguments: { collection: 'articles', data: [{ title }] } }],
})

async function asked(at: Client, body: object): Promise<string> {
  const response = await at.post('/ai/chat', body)
  expect(response.status).toBe(200)
  return response.text()
}

/** The text of an answer, whose events have it in pieces as they came; all events where there is none, so that a failure shows them. */
function textOf(events: string): string {
  const pieces = events.matchAll(/^event: text\ndata: (.*)$/gm)
  return Array.from(pieces, ([, data = '']) => (JSON.parse(data) as { text: string }).text).join('') || events
}

it('runs an approved call at most once, and goes on', { timeout: 900_000 }, async () => {
  let kills = 0
  let messages = 0
  const outcomes = new Set<number>()
  for (let tries = 0; kills < KILLS && tries < 2 * KILLS; tries += 1) {
    const title = crypto.randomUUID()
    provider.script('m', (_, { body }) =>
      JSON.stringify(body).includes('I approved') ? { text: 'Made.' } : creates(title),
    )
    const events = await asked(calm, { message: 'Make one' })
    const [, conversationId] = /"id":"([^"]+)"/.exec(events) ?? []
    const [, approval] = /event: approval\ndata: {"id":"([^"]+)"/.exec(events) ?? []
    const victim = await startReplica(service.instance, { ...local, SERVICE_DATABASE_URL: service.proxy.url })
    const at = await clientAt(victim)
    await at.get('/items/articles?limit=1')
    const reached = service.proxy.cutAfter(messages, 'assistant_approval')

    const sent = at.post(`/ai/approvals/${approval}`, { approve: true })
    const isCut = await Promise.race([reached.then(() => true), sent.then(() => false)])
    await victim.kill()
    await sent.catch(() => undefined)
    service.proxy.calm()

    const again = await calm.post(`/ai/approvals/${approval}`, { approve: true })
    expect([200, 409]).toContain(again.status)
    const more = await asked(calm, { conversationId })
    expect(textOf(more), `killed behind message ${messages}`).toContain('Made.')
    const count = await made(title)
    expect(count).toBeLessThanOrEqual(1)
    if (again.status === 200) expect(count).toBe(1)
    outcomes.add(count)
    kills += isCut ? 1 : 0
    messages = isCut ? messages + STRIDE : 0
  }

  console.log(`${kills} kills`)
  expect(kills).toBe(KILLS)
  expect(outcomes.has(1)).toBe(true)
})

it('goes on in a conversation whose service was killed while it answered, once its hold has ended', async () => {
  const stalls: ScriptedAnswer = { text: 'Half', end: 'stall' }
  provider.script('m', (_, { body }) => (JSON.stringify(body).includes('Go on') ? { text: 'Here again.' } : stalls))
  const victim = await startReplica(service.instance, local)
  const response = await (await clientAt(victim)).post('/ai/chat', { message: 'Think' })
  const reader = response.body?.getReader()
  let text = ''
  while (!text.includes('event: text')) text += new TextDecoder().decode((await reader?.read())?.value)
  await victim.kill()
  const [, conversationId] = /"id":"([^"]+)"/.exec(text) ?? []

  const early = await calm.post('/ai/chat', { conversationId, message: 'Go on' })
  await service.instance.database.query({ text: 'update service.conversation set held_until = now()', params: [] })
  const late = await asked(calm, { conversationId, message: 'Go on' })

  expect(early.status).toBe(409)
  expect(textOf(late)).toContain('Here again.')
})

it('counts all that was kept of a conversation, also what was decided and what came of it', async () => {
  provider.script('m', (_, { body }) =>
    JSON.stringify(body).includes('I approved') ? { text: 'Made.' } : creates('Größe'),
  )
  const events = await asked(calm, { message: 'Make one' })
  const [, conversationId] = /"id":"([^"]+)"/.exec(events) ?? []
  const [, approval] = /event: approval\ndata: {"id":"([^"]+)"/.exec(events) ?? []
  expect((await calm.post(`/ai/approvals/${approval}`, { approve: true })).status).toBe(200)

  const text = `select size::text, (select sum(octet_length(entry))::text from service.conversation_entry
    where conversation_id = id), (select count(*)::text from service.conversation_entry where conversation_id = id
    and entry::jsonb->>'kind' in ('decision', 'outcome')) from service.conversation where id = $1::uuid`
  const [[size, kept, decided] = []] = await service.instance.database.query({ text, params: [conversationId ?? null] })
  expect([size, decided]).toEqual([kept, '2'])
})

async function made(title: string): Promise<number> {
  const filter = encodeURIComponent(JSON.stringify({ title: { _eq: title } }))
  const response = await calm.get(`/items/articles?fields=id&filter=${filter}`)
  return ((await response.json()) as { data: unknown[] }).data.length
}
