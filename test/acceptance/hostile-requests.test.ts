/**
 * Requests as large and as deep as anybody may send are answered, none of them by a fault of ours, and others are
 * answered meanwhile. How long others wait is a figure (`npm run bench -- --figures hostile`). SERVICE_TEST_SEED, which
 * is printed, repeats a run.
 */
import { beforeAll, expect, it } from 'vitest'
import { createDice, seed } from '../fuzz/support/dice.ts'
import { allHostile, anyHostile, type HostileRequest } from '../support/data/hostile-requests.ts'
import { people } from '../support/service/people.ts'
import { type Client, type Workspace, world } from '../support/service/world.ts'

let blog: Workspace
let reader: Client

beforeAll(async () => {
  console.log(`hostile requests: SERVICE_TEST_SEED=${seed}`)
  blog = await world.workspace(
    'hostile',
    { authors: { name: 'string', detail: 'json?' }, posts: { title: 'string', authorId: 'int64?' } },
    ['posts.author(authorId) -> authors.posts'],
  )
  await blog.insert('authors', [{ name: 'Ada' }])
  const member = await people.member(blog, { entitlements: ['ai:mcp'], collections: { authors: { read: 'all' } } })
  reader = world.bearer(member.token)
})

it.each(['search', 'path', 'body', 'call'])('answers each %s', async (kind) => {
  const requests = allHostile().filter(({ name }) => name.startsWith(`${kind} `))
  const wrong: string[] = []
  for (const request of requests) wrong.push(...(await wrongAnswers(world.administrator, request)))

  expect(requests.length).toBeGreaterThan(3)
  expect(wrong).toEqual([])
})

it('answers any of them, of any size, whoever sends it', async () => {
  const dice = createDice(seed)
  for (let count = 0; count < 60; count++) {
    expect(await wrongAnswers(dice.pick([world.administrator, reader, world.anonymous]), anyHostile(dice))).toEqual([])
  }
})

/** What a migration says that is wrong with it is 500 with a code of its own (docs/contract.md#migrations). */
function isFaultOfAuthor(text: string): boolean {
  return text.startsWith('{"message":"Failed to execute the migration') && /"code":"30\d\d"/.test(text)
}

/** A write of as many changes as one may ask for may take longer than it is given. */
function isOverdue(text: string): boolean {
  return text.includes('"code":"5004"')
}

/** What is wrong with the answer, or with that of somebody who asks at the same time. */
async function wrongAnswers(sender: Client, { method, path, body, name }: HostileRequest): Promise<readonly string[]> {
  const address = path.startsWith('/api/') ? path : `/api/${blog.name}${path}`
  const sent = sender.send(method, address, {
    ...(body !== undefined && { body: body.replaceAll('SOURCE', blog.sourceId) }),
    headers: { Accept: 'application/json, text/event-stream' },
  })
  const [answer, ping] = await Promise.all([sent, world.anonymous.get('/ping')])
  const text = await answer.text()
  await ping.body?.cancel()
  return [
    ...(answer.status >= 500 && !isFaultOfAuthor(text) && !isOverdue(text)
      ? [`${name}: ${answer.status} ${text.slice(0, 300)}`]
      : []),
    ...(text.includes('Internal error') ? [`${name}: ${text.slice(0, 300)}`] : []),
    ...(ping.status === 200 ? [] : [`${name}: /ping answers ${ping.status}`]),
  ]
}
