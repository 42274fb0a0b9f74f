/**
 * 64 clients write and read at once, each keeping a ledger of what was acknowledged: no error that is not the client's,
 * every answer as the ledger has it, the ledgers true at the end, and no connection left.
 */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Drawing } from '../support/data/model-sketch.ts'
import { casesOr } from '../support/run/cases.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'
import { createDice, type Dice, seed } from './support/dice.ts'
import { openWire, type Wire } from './support/wire.ts'

const CLIENTS = 64
/** What each client does, one after the other. */
const DEEDS = casesOr(60, { least: 12 })
const PRODUCTS = 6
const COUNTERS = 4
/** Two for reads, eight in their place while they are held up, two for large answers, ten for transactions. */
const MAX_CONNECTIONS = 22

const shop: Drawing = {
  collections: {
    accounts: { id: 'int64 = counted', client: 'int32', counter: 'int64', note: 'string?' },
    orders: { id: 'uuid = uuid', client: 'int32', accountId: 'int64', total: 'decimal(12,2)' },
    lines: { id: 'int64 = counted', orderId: 'uuid', productId: 'int32', quantity: 'int32' },
    products: { id: 'int32', name: 'string' },
    counters: { id: 'int32', count: 'int64', productId: 'int32' },
  },
  keys: {
    orders: [
      ['primary', 'id'],
      ['normal', 'client'],
    ],
    lines: [
      ['primary', 'id'],
      ['normal', 'orderId'],
    ],
  },
  relations: [
    'orders.account(accountId) -> accounts.orders',
    'lines.order(orderId) -> orders.lines',
    'lines.product(productId) -> products.lines',
    'counters.product(productId) -> products.counters',
  ],
}

type Line = { readonly id: string; readonly productId: number; quantity: number }
type Order = { readonly id: string; total: string; lines: Line[] }

/** What one client has been told. */
type Ledger = {
  readonly client: number
  readonly accountId: string
  counter: number
  note: string | null
  readonly orders: Map<string, Order>
  /** How often this client moved each shared counter on. */
  readonly moved: number[]
}

let service: NodeService
let wire: Wire
let database: pg.Client
let mostConnections = 0

beforeAll(async () => {
  console.log(`concurrency: SERVICE_TEST_SEED=${seed}`)
  service = await startService('shop', shop)
  wire = openWire(service.url, service.token)
  database = new pg.Client({ connectionString: service.databaseUrl })
  await database.connect()
  const products = Array.from({ length: PRODUCTS }, (_, id) => ({ id, name: `product ${id}` }))
  const counters = Array.from({ length: COUNTERS }, (_, id) => ({ id, count: 0, productId: id }))
  expect(await service.send('POST', 'products', products)).toMatchObject({ status: 200 })
  expect(await service.send('POST', 'counters', counters)).toMatchObject({ status: 200 })
})

afterAll(async () => {
  wire?.close()
  await database?.end()
  await service?.close()
})

it('answers 64 clients truly, and leaves nothing behind', async () => {
  const lives = Promise.all(Array.from({ length: CLIENTS }, (_, client) => live(client)))
  await watchConnections(lives)
  const ledgers = await lives

  expect(service.faults).toEqual([])
  for (const ledger of ledgers) await compare(ledger)
  const counters = (await ask('GET', 'counters?fields=count')).map(({ count }) => Number(count))
  const moved = counters.map((_, id) => ledgers.reduce((sum, ledger) => sum + (ledger.moved[id] ?? 0), 0))
  expect(counters).toEqual(moved)
  expect(mostConnections).toBeLessThanOrEqual(MAX_CONNECTIONS)
  console.log(`concurrency: ${requests} requests, ${races} lost races, ${mostConnections} connections`)
  wire.close()
  await service.closeServer()
  // A server process outlives its connection by a moment.
  await expect.poll(connections).toBe(0)
})

async function live(client: number): Promise<Ledger> {
  const dice = createDice(seed + client)
  const [account] = await ask('POST', 'accounts', [{ client, counter: 0 }])
  const ledger: Ledger = {
    client,
    accountId: String(account?.id),
    counter: 0,
    note: null,
    orders: new Map(),
    moved: Array.from({ length: COUNTERS }, () => 0),
  }
  for (let deed = 0; deed < DEEDS; deed += 1) await dice.pick(deeds)(ledger, dice)
  return ledger
}

type Deed = (ledger: Ledger, dice: Dice) => Promise<void>

const deeds: readonly Deed[] = [
  count,
  count,
  order,
  order,
  changeOrder,
  changeOrder,
  cancel,
  annotate,
  compare,
  moveOn,
  moveOn,
  renameProduct,
]

async function count(ledger: Ledger): Promise<void> {
  const { counter } = await askOne('PATCH', `accounts/${ledger.accountId}`, { counter: ledger.counter + 1 })
  ledger.counter += 1
  expect(counter).toBe(String(ledger.counter))
}

/** Products are connected in any order, so that writers meet each other's rows. */
async function order(ledger: Ledger, dice: Dice): Promise<void> {
  if (ledger.orders.size >= 6) return
  const total = `${dice.below(1_000)}.${10 + dice.below(90)}`
  const lines = [newLine(dice), ...dice.some(4, () => newLine(dice))]
  const account = { _connect: { key: { id: ledger.accountId } } }
  const body = [{ client: ledger.client, total, account, lines: [{ _create: { data: lines } }] }]
  const [created] = await ask('POST', `orders?${orderFields}`, body)
  const made = orderOf(created)
  expect(made.total).toBe(total)
  expect(made.lines.map(({ productId, quantity }) => [productId, quantity])).toEqual(
    lines.map(({ product, quantity }) => [product._connect.key.id, quantity]),
  )
  ledger.orders.set(made.id, made)
}

/** One more line, all lines of some quantity renewed, and those of another gone. */
async function changeOrder(ledger: Ledger, dice: Dice): Promise<void> {
  const order = anyOrder(ledger, dice)
  if (order === undefined) return
  const [renewed, gone] = [dice.below(5), dice.below(5)]
  const total = `${dice.below(1_000)}.00`
  const body = {
    total,
    lines: [
      { _update: { data: { quantity: 9 }, filter: { quantity: { _eq: renewed } } } },
      { _delete: { filter: { quantity: { _eq: gone } } } },
      { _create: { data: [newLine(dice)] } },
    ],
  }
  const changed = orderOf(await askOne('PATCH', `orders/${order.id}?${orderFields}`, body))
  for (const line of order.lines) if (line.quantity === renewed) line.quantity = 9
  order.lines = order.lines.filter(({ quantity }) => quantity !== gone)
  expect(changed.total).toBe(total)
  expect(changed.lines.slice(0, -1)).toEqual(order.lines)
  order.total = total
  order.lines = changed.lines
}

async function cancel(ledger: Ledger, dice: Dice): Promise<void> {
  const order = anyOrder(ledger, dice)
  if (order === undefined) return
  await ask('DELETE', `lines?filter[orderId]=${order.id}`)
  order.lines = []
  await ask('DELETE', dice.once(2) ? `orders/${order.id}` : `orders?filter[id][_in][]=${order.id}`)
  ledger.orders.delete(order.id)
}

async function annotate(ledger: Ledger, dice: Dice): Promise<void> {
  const note = dice.once(4) ? null : `note ${dice.below(100)}`
  const changed = await ask('PATCH', `accounts?filter[client]=${ledger.client}`, { note })
  ledger.note = note
  expect(changed).toEqual([{ ...accountOf(ledger), note }])
}

/** Whoever says what the count was may set it: of those who ask at once, one. */
async function moveOn(ledger: Ledger, dice: Dice): Promise<void> {
  const id = dice.below(COUNTERS)
  const { count: seen } = await askOne('GET', `counters/${id}`)
  const condition = `filter[count][_eq]=${seen}`
  const next = { count: String(Number(seen) + 1) }
  const requests = [
    { path: `counters/${id}?${condition}`, body: next },
    { path: `counters/${id}?${condition}&fields=count,product.name`, body: next },
    {
      path: `counters/${id}?${condition}`,
      body: { ...next, product: [{ _update: { data: { name: `of ${seen}` } } }] },
    },
  ]
  const { path, body } = dice.pick(requests)
  if (await wins('PATCH', path, body)) ledger.moved[id] = (ledger.moved[id] ?? 0) + 1
}

async function renameProduct(_ledger: Ledger, dice: Dice): Promise<void> {
  const name = `product ${dice.below(1_000)}`
  const changed = await askOne('PATCH', `products/${dice.below(PRODUCTS)}`, { name })
  expect(changed.name).toBe(name)
}

/** Everything of this client, as the service has it. */
async function compare(ledger: Ledger): Promise<void> {
  const path = `accounts?fields=*,orders.id,orders.total,orders.lines.id,orders.lines.productId,orders.lines.quantity`
  const sort = 'deep[orders.lines][_sort][0][id][direction]=asc'
  const [account] = await ask('GET', `${path}&${sort}&filter[client]=${ledger.client}&limit=1`)
  const { orders, ...own } = account ?? {}
  expect(own).toEqual(accountOf(ledger))
  const stored = (orders as { data: Item[] }).data.map(orderOf)
  expect(new Map(stored.map((one) => [one.id, one]))).toEqual(ledger.orders)
}

type Item = Readonly<Record<string, unknown>>

const orderFields = 'fields=id,total,lines.id,lines.productId,lines.quantity'

function newLine(dice: Dice) {
  return { quantity: dice.below(5), product: { _connect: { key: { id: dice.below(PRODUCTS) } } } }
}

function anyOrder({ orders }: Ledger, dice: Dice): Order | undefined {
  return orders.size === 0 ? undefined : dice.pick([...orders.values()])
}

function accountOf({ accountId, client, counter, note }: Ledger): Item {
  return { id: accountId, client, counter: String(counter), note }
}

function orderOf(item: Item | undefined): Order {
  const { id, total, lines } = item as unknown as { id: string; total: string; lines: { data: Line[] } }
  return { id, total, lines: lines.data }
}

let requests = 0
let races = 0

async function ask(method: string, path: string, body?: unknown): Promise<readonly Item[]> {
  const { status, text } = await sendJson(method, path, body)
  if (status === 204) return []
  if (status !== 200) throw new Error(`${method} ${path} ${JSON.stringify(body)} answered ${status} ${text}`)
  const { data } = JSON.parse(text) as { data: Item | readonly Item[] }
  return Array.isArray(data) ? data : [data as Item]
}

async function askOne(method: string, path: string, body?: unknown): Promise<Item> {
  const [item] = await ask(method, path, body)
  if (item === undefined) throw new Error(`${method} ${path} answered nothing`)
  return item
}

/** False where the row was no longer as it had to be. */
async function wins(method: string, path: string, body: unknown): Promise<boolean> {
  const { status, text } = await sendJson(method, path, body)
  if (status === 404) races += 1
  if (status !== 200 && status !== 404) throw new Error(`${method} ${path} answered ${status} ${text}`)
  return status === 200
}

function sendJson(method: string, path: string, body: unknown) {
  requests += 1
  return wire.send({ method, path: service.items + path, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

/** As long as anybody lives. */
async function watchConnections(lives: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  lives.then(over, over)
  while (!isOver) {
    mostConnections = Math.max(mostConnections, await connections())
    await wait(50)
  }
}

async function connections(): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  return rows[0]?.count ?? 0
}
