/** docs/contract.md#data-sources: a database that answers nothing holds nobody, wherever in a conversation it falls silent. */
import type { Socket } from 'node:net'
import { afterAll, describe, it } from 'vitest'
import { BUSY } from '../../src/core/sql/fault.ts'
import { openMysql } from '../../src/platform/drivers/mysql.ts'
import { openPostgres } from '../../src/platform/drivers/postgres/driver.ts'
import { createNetwork } from '../../src/platform/node/network/network.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { message, startHostile } from '../support/servers/hostile-server.ts'

const closing: (() => Promise<void>)[] = []

afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const statement = { text: 'select 1', params: [] }
type Way = {
  readonly name: string
  readonly timeLimit: number
  readonly ask: (driver: SqlDriver) => Promise<unknown>
  readonly isTransaction?: boolean
}

/** `limit` in milliseconds, of callers or of what is asked about a catalog. */
const waysWithin = (limit: number): readonly Way[] => [
  { name: 'a read of a caller', timeLimit: limit, ask: (driver) => driver.query(statement, {}) },
  {
    name: 'a write of a caller',
    timeLimit: limit,
    ask: (driver) => driver.batch([statement, statement], { isWriting: true }),
    isTransaction: true,
  },
  {
    name: 'a write that is heard',
    timeLimit: limit,
    ask: (driver) => driver.batch([statement], { isWriting: true, confirm: () => {} }),
    isTransaction: true,
  },
  {
    name: 'a question about the catalog',
    timeLimit: 0,
    ask: (driver) => driver.query(statement, { timeLimit: limit }),
  },
  {
    name: 'a transaction about the catalog',
    timeLimit: 0,
    ask: (driver) => driver.batch([statement], { timeLimit: limit }),
    isTransaction: true,
  },
]

const ways = waysWithin(50)
/** What comes before the last statement is answered within the limit on any machine. */
const patientTransactions = waysWithin(3_000).filter(({ isTransaction }) => isTransaction)

/** `open` are the connections that clients have. */
async function start(serve: (socket: Socket, said: string) => void, greeting?: Buffer) {
  const open = new Set<Socket>()
  const { port, close } = await startHostile((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('data', (chunk) => serve(socket, chunk.toString('latin1')))
    if (greeting !== undefined) socket.write(greeting)
  })
  closing.push(close)
  return { port, open }
}

/** Only what hangs takes longer. */
const TIME = { timeout: 60_000 }

describe.concurrent.each(ways)('a MySQL: $name', ({ ask, timeLimit }) => {
  it.for([
    { place: 'before its greeting', answers: undefined, state: /^08/ },
    { place: 'behind its greeting', answers: [], state: /^08/ },
    { place: 'at the settings of a session', answers: ['login'], state: /^57014$/ },
    { place: 'at what comes first', answers: ['login', 'set '], state: /^57014$/ },
    { place: 'at the statement', answers: ['login', 'set ', 'start transaction'], state: /^57014$/ },
  ])('that falls silent $place is given up', async ({ answers, state }, { expect }) => {
    const { driver, open } = await mysql(answers, timeLimit)

    await expect(ask(driver)).rejects.toMatchObject({ name: 'SqlFault', state: expect.stringMatching(state) })

    await expect.poll(() => open.size, TIME).toBe(0)
  })
})

describe.concurrent.each(patientTransactions)('a MySQL: $name', ({ ask, timeLimit }) => {
  it.for([
    // Nobody knows what became of it.
    { place: 'at the commit', refused: 'nothing', state: '08006' },
    { place: 'at the rollback', refused: 'select', state: 'HY000' },
  ])('that falls silent $place is given up', async ({ refused, state }, { expect }) => {
    const { driver, open } = await mysql(['login', 'set ', 'start transaction', 'select'], timeLimit, { refused })

    await expect(ask(driver)).rejects.toMatchObject({ name: 'SqlFault', state, position: expect.any(Number) })

    await expect.poll(() => open.size, TIME).toBe(0)
  })
})

type Terms = { readonly refused?: string; readonly errno?: number; readonly max?: number }

/** A driver of a server that answers what begins so, with an error where it begins with `refused`. */
async function mysql(
  answers: readonly string[] | undefined,
  timeLimit: number,
  { refused = 'nothing', errno = 1104, max }: Terms = {},
) {
  const heard = new WeakSet<Socket>()
  const { port, open } = await start((socket, said) => {
    const text = heard.has(socket) ? said.slice(5) : 'login'
    heard.add(socket)
    const isAnswered = answers?.some((begin) => text.startsWith(begin))
    const answer = text.startsWith(refused)
      ? [0xff, errno & 255, errno >> 8, ...Buffer.from('#HY000no')]
      : [0, 0, 0, 2, 0, 0, 0]
    if (isAnswered) socket.write(packet(text === 'login' ? 2 : 1, answer))
  }, answers && packet(0, greeting))
  const driver = openMysql({
    host: '127.0.0.1',
    port,
    user: 'u',
    password: 'x',
    timeLimit,
    connectLimit: 1_000,
    ...(max && { max }),
  })
  closing.push(() => driver.close())
  return { driver, open }
}

describe.concurrent.each(ways)('a PostgreSQL: $name', ({ ask, timeLimit }) => {
  it.for([
    { place: 'behind its greeting', answers: [] },
    { place: 'at the statement', answers: ['set', 'begin'] },
  ])('that falls silent $place is given up', async ({ answers }, { expect }) => {
    const { driver, open } = await postgres(answers, timeLimit)

    await expect(ask(driver)).rejects.toMatchObject({
      name: 'SqlFault',
      state: expect.stringMatching(/^(57014|08006)$/),
    })

    await expect.poll(() => open.size, TIME).toBe(0)
  })
})

it.concurrent('nobody knows of a commit that a MySQL answers by ending the connection', async ({ expect }) => {
  const answers = ['login', 'set ', 'start transaction', 'select', 'commit', 'rollback']
  const { driver } = await mysql(answers, 0, { refused: 'commit', errno: 1927 })

  await expect(driver.batch([statement])).rejects.toMatchObject({ state: '08006', errno: 1927, position: 1 })
})

/** Migrations have no time limit, but for what ends them. */
it.concurrent.for([{ kind: 'MySQL' }, { kind: 'PostgreSQL' }])(
  'a $kind: a migration that is refused, and told nothing of its rollback, is given up',
  async ({ kind }, { expect }) => {
    const { driver, open } = await (kind === 'MySQL'
      ? mysql(['login', 'set ', 'start transaction', 'select'], 0, { refused: 'select' })
      : postgres(['set', 'begin'], 0, { isRefusing: true }))

    // What is more than one slice has its commit in another one.
    const migration = Array(101).fill(statement)
    await expect(driver.batch(migration)).rejects.toMatchObject({ name: 'SqlFault', position: 0 })

    await expect.poll(() => open.size, TIME).toBe(0)
  },
)

/** A driver of a server that answers what begins so. */
async function postgres(
  answers: readonly string[],
  timeLimit: number,
  { max, isRefusing = false }: Pick<Terms, 'max'> & { isRefusing?: boolean } = {},
) {
  const welcome = [message('R', Buffer.alloc(4)), message('K', Buffer.alloc(8, 1)), message('Z', 'I')]
  const done = (status: string) => [message('C', 'DONE\0'), message('Z', status)]
  const refusal = [message('E', 'SERROR\0CXX000\0Mno\0\0'), message('Z', 'E')]
  const heard = new WeakSet<Socket>()
  const { port, open } = await start((socket, said) => {
    if (!heard.has(socket)) socket.write(Buffer.concat(welcome))
    else {
      for (const [type, text] of messagesIn(said)) {
        if (type === 'Q' && answers.some((begin) => text.startsWith(begin)))
          socket.write(Buffer.concat(done(text.startsWith('begin') ? 'T' : 'I')))
        if (type === 'S' && isRefusing) socket.write(Buffer.concat(refusal))
      }
    }
    heard.add(socket)
  })
  const { socket } = createNetwork({ allowPrivate: true })
  const address = { host: '127.0.0.1', port, user: 'u', password: 'x', database: 'd', tls: false, socket } as const
  const driver = openPostgres({ address, timeLimit, connectLimit: 1_000, ...(max && { max }) })
  closing.push(() => driver.close())
  return { driver, open }
}

/** The types and contents of whole messages. */
function* messagesIn(said: string): Generator<[type: string, text: string]> {
  const bytes = Buffer.from(said, 'latin1')
  for (let place = 0; place < bytes.length; place += 1 + bytes.readUInt32BE(place + 1))
    yield [said.charAt(place), said.slice(place + 5, place + 1 + bytes.readUInt32BE(place + 1))]
}

describe.concurrent('a wait for a connection that another statement has', () => {
  it.for([{ kind: 'MySQL' }, { kind: 'PostgreSQL' }] as const)('is given up: $kind', async ({ kind }, { expect }) => {
    const { driver, open } = await (kind === 'MySQL'
      ? mysql(['login', 'set ', 'start transaction'], 0, { max: 1 })
      : postgres(['set', 'begin'], 0, { max: 1 }))
    let isHeld = true
    const free = () => {
      isHeld = false
    }
    void driver.batch([statement]).then(free, free)
    await expect.poll(() => open.size, TIME).toBe(1)

    await expect(driver.batch([statement])).rejects.toMatchObject({ name: 'SqlFault', state: BUSY })

    // What was not begun yet is begun anew.
    const cut = () => {
      for (const socket of open) socket.destroy()
      return isHeld
    }
    await expect.poll(cut, TIME).toBe(false)
  })
})

const capabilities = [0x00, 0xa2, 45, 2, 0, 0x08, 0x00]
const greeting = [
  ...[10, ...Buffer.from('8.0.0\0'), 1, 0, 0, 0, ...Buffer.alloc(8, 0x61), 0],
  ...[...capabilities, 21, ...Buffer.alloc(10), ...Buffer.alloc(12, 0x61), 0],
]

function packet(sequence: number, content: readonly number[]): Buffer {
  return Buffer.from([content.length, 0, 0, sequence, ...content])
}
