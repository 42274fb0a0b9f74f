/**
 * docs/contract.md#assistant: whatever a model asks for, in whatever order, happens under the rights of its user, and nothing that deletes
 * without exactly one yes to exactly that call.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { effort } from '../support/run/effort.ts'
import { type ChatProvider, type ScriptedCall, startChatProvider } from '../support/servers/chat-provider.ts'
import { type Person, people } from '../support/service/people.ts'
import { type Workspace, world } from '../support/service/world.ts'

let provider: ChatProvider
let shop: Workspace
let users: readonly { readonly person: Person; readonly may: ReadonlySet<string> }[]

const rights = [[], ['create'], ['update'], ['delete'], ['create', 'update', 'delete']] as const

beforeAll(async () => {
  provider = await startChatProvider()
  shop = await world.workspace('shop', { articles: { title: 'string' } })
  users = await Promise.all(
    rights.map(async (may) => {
      const actions = Object.fromEntries(['read', ...may].map((action) => [action, 'all']))
      const person = await people.member(shop, { entitlements: ['ai:mcp'], collections: { articles: actions } })
      return { person, may: new Set<string>(may) }
    }),
  )
  const most = 1_000_000_000
  const settings = {
    ...{ connector: 'openai', connectorOptions: { address: provider.url }, chatModel: 'm', dataLevel: 'rows' },
    limits: { requestsPerUser: most, tokensPerUser: most, requests: most, tokens: most },
  }
  expect((await shop.patch('/ai/settings', settings)).status).toBe(200)
})

afterAll(() => provider.close())

type Rows = ReadonlyMap<string, string>

const collection = 'articles'
/** Beyond those that the database counts. */
const FIRST = 1_001
const key = fc.integer({ min: FIRST, max: FIRST + 5 })
const title = fc.constantFrom('a', 'b', 'c')
/** `by` is the action that it takes, `wanted` the key that it deletes. */
const call: fc.Arbitrary<ScriptedCall & { readonly by: string; readonly gone?: number }> = fc.oneof(
  fc.constant({ tool: 'list_items', arguments: { collection }, by: 'read' }),
  title.map((name) => ({ tool: 'create_items', arguments: { collection, data: [{ title: name }] }, by: 'create' })),
  fc.tuple(key, title).map(([at, name]) => ({
    ...{ tool: 'update_item', arguments: { collection, key: at, data: { title: name } }, by: 'update' },
  })),
  key.map((at) => ({ tool: 'delete_item', arguments: { collection, key: at }, by: 'delete', gone: at })),
  key.map((at) => ({
    ...{ tool: 'batch_items', arguments: { operations: [{ kind: 'delete', collection, key: at }] } },
    ...{ by: 'delete', gone: at },
  })),
  fc.constant({ tool: 'mutate_schema', arguments: { operations: [], allow: ['drop'] }, by: 'none' }),
  fc.constant({ tool: 'list_items', arguments: '{"collection"', by: 'none' }),
)

const script = fc.record({
  user: fc.constantFrom(0, 1, 2, 3, 4, 4, 4),
  allowsWrites: fc.boolean(),
  calls: fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  decisions: fc.array(fc.boolean(), { minLength: 9, maxLength: 9 }),
})

async function rowsNow(): Promise<Rows> {
  const rows = (await shop.data('/items/articles?fields=id,title&limit=-1')) as { id: string; title: string }[]
  return new Map(rows.map(({ id, title: name }) => [id, name]))
}

/** Six rows are there at the beginning of each. */
async function restored(): Promise<Rows> {
  await shop.send('DELETE', '/items/articles?filter={"_all":true}')
  const all = Array.from({ length: 6 }, (_, at) => ({ id: String(FIRST + at), title: `row ${at}` }))
  expect((await shop.post('/items/articles', all)).status).toBe(200)
  return rowsNow()
}

it('is a subset of what its user may do', { timeout: 1_200_000 }, async () => {
  let [approved, changed] = [0, 0]
  await fc.assert(
    fc.asyncProperty(script, async ({ user, allowsWrites, calls, decisions }) => {
      const { person, may } = users[user] as (typeof users)[number]
      const all = calls.flat()
      provider.script('m', (_, { body }) => {
        const messages = body.messages as { readonly role: string }[]
        const step = messages.filter(({ role }) => role === 'assistant').length
        return step === 0 ? { text: 'Yes?' } : { calls: calls[step - 1] ?? [], text: 'So.' }
      })
      let state = await restored()
      const first = await (await person.post('/ai/chat', { message: 'Hello' })).text()
      const [, id] = /"id":"([^"]+)"/.exec(first) ?? []
      expect((await person.patch(`/ai/conversations/${id}`, { allowsWrites })).status).toBe(200)

      for (const decision of decisions.slice(0, calls.length)) {
        const events = await (await person.post('/ai/chat', { conversationId: id, message: 'Go on' })).text()
        const asked = await rowsNow()
        const kinds = differences(state, asked)
        expect(kinds.filter((kind) => kind === 'delete' || !allowsWrites || !may.has(kind))).toEqual([])
        state = asked
        const [, approval, sent = ''] =
          /event: approval\ndata: {"id":"([^"]+)","tool":"[^"]+","arguments":(".*?"),"expiresAt"/.exec(events) ?? []
        if (approval === undefined) continue
        const wanted = all.find((one) => JSON.stringify(JSON.stringify(one.arguments)) === sent)
        expect(wanted).toBeDefined()
        const answers = await Promise.all(
          [0, 1].map(() => person.post(`/ai/approvals/${approval}`, { approve: decision })),
        )
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
        const now = await rowsNow()
        const made = differences(state, now)
        if (!decision) expect(made).toEqual([])
        expect(made.filter((kind) => kind !== wanted?.by || !may.has(kind))).toEqual([])
        expect([...state.keys()].filter((one) => !now.has(one) && one !== String(wanted?.gone))).toEqual([])
        approved += decision ? 1 : 0
        changed += made.length
        state = now
      }
    }),
    { numRuns: effort() === 'full' ? 2_000 : 20 },
  )
  expect(Math.min(approved, changed)).toBeGreaterThan(0)
})

/** By which actions the one became the other. */
function differences(before: Rows, after: Rows): readonly string[] {
  const kept = [...before.keys()].filter((id) => after.has(id))
  return [
    ...[...before.keys()].filter((id) => !after.has(id)).map(() => 'delete'),
    ...[...after.keys()].filter((id) => !before.has(id)).map(() => 'create'),
    ...kept.filter((id) => before.get(id) !== after.get(id)).map(() => 'update'),
  ]
}
