/**
 * A manager with random rights acts at random, alone and through those whom they gave something. Afterwards nobody of
 * them reads or writes more than the manager held, what they do not see makes no difference to what they are answered,
 * and nobody has lost what the manager could not have given.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Row, Rows } from '../../property/support/rows.ts'
import { announce, seed } from '../../property/support/seed.ts'
import { casesOr } from '../../support/run/cases.ts'
import { type Actor, drawAccountAct, drawActor, type Estate, leavesReading, noteEstate } from './delegation-accounts.ts'
import { type Act, type Draw, drawAct } from './delegation-acts.ts'
import { drawTaking, giveAlong } from './delegation-chains.ts'
import { anyHeld, drawNear } from './delegation-edges.ts'
import { applying, drawFile, type FileEdit } from './delegation-files.ts'
import { cellsOf, kinds, reachOf } from './delegation-reach.ts'
import { admittedBy, unseenChanges } from './delegation-unseen.ts'
import { type DelegationWorld, type Holding, openDelegationWorld, people, tags } from './delegation-world.ts'
import { anyPlainWrite, base, requestFor } from './delegation-writes.ts'
import { anyRows, identified, membersOf, names } from './library.ts'
import { naiveRules } from './naive.ts'
import { anyChangeOf, applied } from './non-interference.ts'
import { anyPolicies, type Caller, type Policy } from './policies.ts'
import type { Write } from './writes.ts'

const cases = Math.ceil(casesOr(1000) / 20)
const managing = ['workspaceMembers:read', 'workspaceMembers:edit']

/** The manager and everybody whom they may have given something. */
const actors: readonly (string | undefined)[] = [people.manager, people.creature, people.stranger, undefined]

export function describeDelegations(): void {
  let world: DelegationWorld
  beforeAll(async () => {
    announce('delegations')
    world = await openDelegationWorld()
  })
  afterAll(() => world?.close())

  it(`gives nothing away and takes nothing that is not held, in ${cases} delegations`, async () => {
    const told = new Map<string, number>()
    const count = (name: string) => told.set(name, (told.get(name) ?? 0) + 1)
    const start = performance.now()
    const [filled = {} as Rows] = fc.sample(fullRows, { seed, numRuns: 1 })
    const property = fc.asyncProperty(anyBeginning, fc.gen(), async (beginning, generate) => {
      const draw: Draw = (arbitrary) => generate(() => arbitrary)
      const near = Array.from({ length: 3 }, () => drawNear(draw, beginning.held))
      await world.begin({ ...beginning, others: [...beginning.others, ...near] })
      const [before = nothing, colleague = nothing, everybody = nothing] = await world.holdings([
        people.manager,
        people.colleague,
        undefined,
      ])

      const estate: Estate = { owners: new Map(), keys: [] }
      const acts = await act(world, estate, { draw, count, held: beginning.held })

      const after = await world.holdings([...actors, ...estate.owners.keys()])
      const story = JSON.stringify({ held: before, acts, after })
      // Where everybody had something, that and what was given add up to what neither of them allows.
      const isOpen = everybody.policies.length > 0
      const persons = after.filter(({ caller }) => caller.userId !== undefined || !isOpen)
      const writes = Array.from({ length: 8 }, () => draw(anyPlainWrite))
      const [now = nothing] = await world.holdings([people.colleague])
      for (const rows of [filled, ...beginning.fillings]) {
        const allowed = reachOf(before, rows, kinds)
        for (const holding of after) {
          // What everybody had before was not given by the manager.
          const had = holding.caller.userId === undefined ? reachOf(everybody, rows, kinds) : []
          expect(beyond(reachOf(holding, rows, kinds), new Set([...allowed, ...had])), story).toEqual([])
        }
        expectNoMoreWrites({ before, after: persons, rows, story, count, writes })
        expectNothingTold({ before, after: persons, rows, story, count })
        const lost = beyond(reachOf(colleague, rows, kinds), reachOf(now, rows, kinds)).filter(
          (cell) => !allowed.has(cell),
        )
        expect(lost, story).toEqual([])
      }
      for (const holding of after) {
        const had = entitlementsOf(holding.caller.userId === undefined ? everybody : nothing)
        expect(beyond(entitlementsOf(holding), new Set([...entitlementsOf(before), ...had])), story).toEqual([])
      }
      const taken = beyond(entitlementsOf(colleague), entitlementsOf(now))
      expect(beyond(new Set(taken), entitlementsOf(before)), story).toEqual([])

      const comparison = { before, after: persons, rows: filled, story, count }
      await world.fill(filled)
      await expectScopesKept(world, estate, { story, count })
      await expectNoMoreAnswers(world, { ...comparison, draw })
      await expectNoMoreDone(world, { ...comparison, writes })
      const { administrators } = await world.inventory()
      expect(administrators, story).toMatchObject({ [people.administrator]: 'active', [people.suspended]: 'suspended' })
      expect(Object.keys(administrators), story).toHaveLength(3)
    })

    await fc.assert(property, { seed, numRuns: cases, endOnFailure: true })

    const rate = Math.round((cases * 1_000) / (performance.now() - start))
    console.log(
      `${rate} delegations a second; ${[...told]
        .sort()
        .map(([name, times]) => `${name} ${times}×`)
        .join(', ')}`,
    )
    // So few say nothing of how often something happens; what is rare is asked of many only.
    if (cases < 50) return
    const usual = ['policies', 'roles', 'invitations', 'api-keys', 'service-accounts'].map((one) => `POST /${one} 20x`)
    expect([...told.keys()]).toEqual(expect.arrayContaining([...usual, 'PATCH /members 20x', 'POST /policies 403']))
    expect([...told.keys()]).toEqual(expect.arrayContaining(['unseen change', 'cells read', 'write compared']))
    const files = ['file that gives applied', 'POST /schema 20x']
    expect([...told.keys()]).toEqual(expect.arrayContaining(files))
    if (cases < 200) return
    // Of some two hundred files that give something half are applied; of fewer draws no share can be asked.
    expect(Math.min(...files.map((name) => told.get(name) ?? 0)), 'files applied').toBeGreaterThan(cases / 4)
    for (const path of ['POST /roles', 'PATCH /members', 'POST /invitations', 'POST /api-keys', 'POST /schema']) {
      expect([...told.keys()]).toContain(`${path} 403`)
    }
    expect([...told.keys()]).toEqual(expect.arrayContaining(['PATCH /service-accounts 20x', 'read by key 200']))
    const through = ['policy through links 20x', 'write through links compared']
    expect([...told.keys()]).toEqual(expect.arrayContaining(through))
  })
}

const anyBeginning = fc.record({
  held: fc
    .tuple(anyHeld, fc.integer({ min: 0, max: 3 }))
    .map(([policies, readsModel]): readonly Policy[] => [
      ...policies,
      { entitlements: [...managing, ...(readsModel > 0 ? ['dataModel:read'] : [])], collections: {} },
    ]),
  managerTags: fc.subarray([...tags], { maxLength: 1 }),
  others: fc.oneof(
    { weight: 1, arbitrary: anyPolicies() },
    { weight: 3, arbitrary: fc.constant<readonly Policy[]>([]) },
  ),
  open: fc.oneof(
    { weight: 3, arbitrary: fc.constant<readonly Policy[]>([]) },
    { weight: 1, arbitrary: anyPolicies().map((policies) => policies.slice(0, 1)) },
  ),
  /** Rows by which rights are compared in memory. */
  fillings: fc.array(anyRows, { minLength: 2, maxLength: 2 }),
})

/** What the tables are filled with: some of everything. */
const fullRows = anyRows.filter((rows) => names.every((name) => (rows[name] ?? []).length > 2))

const nothing: Holding = { caller: { userId: undefined, roleIds: [] }, policies: [], isMember: false }

type Acting = { readonly draw: Draw; readonly count: Count; readonly held: readonly Policy[] }

/** Acts in chains and at random; answers what was done, with the status of each. */
async function act(world: DelegationWorld, estate: Estate, { draw, count, held }: Acting): Promise<readonly unknown[]> {
  const acts: (Act & { readonly by: string; readonly status: number })[] = []

  async function perform(wish: Act, actor: Actor, asFounder = false): Promise<string | undefined> {
    const by = asFounder ? world.founder : actor.by
    const { status, text, granted } =
      wish.path === applying
        ? await world.apply(by, wish.body as FileEdit)
        : { ...(await world.send(by, wish.method, wish.path, wish.body)), granted: false }
    acts.push({ ...wish, by, status })
    const story = JSON.stringify(acts)
    expect(status, `${text} ${story}`).toBeLessThan(500)
    const [, , , family] = wish.path.split('/')
    count(`${wish.method} /${family} ${status < 300 ? '20x' : status}`)
    if (granted) count(`file that gives ${status < 300 ? 'applied' : 'refused'}`)
    if (status >= 300) return undefined
    if (family === 'policies' && followsLinks(wish.body)) count('policy through links 20x')
    // Nobody changes what they are through an account of theirs.
    const owner = estate.owners.get(actor.userId)
    const isOwn = [actor.userId, owner].some((id) => id !== undefined && wish.path.endsWith(`/members/${id}`))
    expect(owner !== undefined && isOwn && !asFounder, story).toBe(false)
    await noteEstate(world, estate, actor, { act: wish, text })
    const id = text === '' ? undefined : (JSON.parse(text) as { data?: { id?: string } }).data?.id
    if (family === 'invitations' && status === 201 && id !== undefined) await world.accept(id)
    return id
  }

  const manager: Actor = { userId: people.manager, by: people.manager, scopes: [] }
  const given: string[] = []
  const chains = draw(fc.integer({ min: 1, max: 3 }))
  for (let index = 0; index < chains; index += 1) {
    const chain = { held, inventory: await world.inventory(), publicRole: world.publicRole, given }
    await giveAlong(draw, (wish) => perform(wish, manager), chain)
  }
  for (let left = draw(fc.integer({ min: 1, max: 2 })); left > 0; left -= 1) {
    const actor = draw(fc.integer({ min: 0, max: 3 })) > 0 ? manager : drawActor(draw, estate)
    await perform(drawFile(draw, { held, inventory: await world.inventory() }), actor)
  }
  const more = draw(fc.integer({ min: 1, max: 4 }))
  for (let index = 0; index < more; index += 1) {
    const inventory = await world.inventory()
    const kind = draw(fc.constantFrom('taking', 'account', 'other', 'other'))
    const actor = drawActor(draw, estate)
    if (kind === 'taking') await perform(drawTaking(draw, inventory), manager)
    else {
      const { asFounder, ...wish }: Act & { asFounder?: true } =
        kind === 'account' ? drawAccountAct(draw, inventory, estate, actor) : drawAct(draw, inventory)
      await perform(wish, actor, asFounder)
    }
  }
  return acts
}

/** Whether a condition of the policy leads through a many-to-many field. */
function followsLinks(body: object | undefined): boolean {
  return /"(fans|favorites)":/.test(JSON.stringify(body ?? {}))
}

function entitlementsOf({ policies }: Holding): Set<string> {
  return new Set(policies.flatMap(({ entitlements = [] }) => entitlements))
}

function beyond(some: ReadonlySet<string>, allowed: ReadonlySet<string>): readonly string[] {
  return [...some].filter((one) => !allowed.has(one))
}

type Count = (name: string) => void
type Told = { readonly story: string; readonly count: Count }

type Comparison = Told & {
  readonly before: Holding
  readonly after: readonly Holding[]
  readonly rows: Rows
}

function expectNoMoreWrites({ before, after, rows, writes, story, count }: Comparison & { writes: readonly Write[] }) {
  const mayBefore = writes.map((write) => mayWrite(before, rows, write))
  for (const holding of after) {
    if (holding.policies.length === 0) continue
    for (const [index, write] of writes.entries()) {
      if (!mayWrite(holding, rows, write) || changesNothing(holding, rows, write)) continue
      count('write compared')
      if (/"_(dis)?connect"/.test(JSON.stringify(write))) count('write through links compared')
      expect(mayBefore[index], `${JSON.stringify(write)} by ${JSON.stringify(holding.caller)} ${story}`).toBe(true)
    }
  }
}

function mayWrite({ policies, caller }: Holding, rows: Rows, write: Write): boolean {
  return naiveRules(policies, caller, rows).write(write).answer.status === 200
}

/** Who reads no link finds none to delete, where somebody who reads it is refused. */
function changesNothing({ policies, caller }: Holding, rows: Rows, write: Write): boolean {
  const isByFilter = write.kind.endsWith('Many') || JSON.stringify(write).includes('"_disconnect"')
  // Drawn rows may lack the prototype that their copies have.
  return isByFilter && isDeepStrictEqual(naiveRules(policies, caller, rows).write(write).rows, structuredClone(rows))
}

/** Does one of the writes, if there is one, that somebody may do by the naive rules, and any other one else. */
async function expectNoMoreDone(
  world: DelegationWorld,
  { before, after, rows, writes, story, count }: Comparison & { writes: readonly Write[] },
) {
  const writers = after.filter(({ policies, isMember }) => isMember && policies.length > 0)
  const pairs = writers.flatMap((holding) => writes.map((write) => ({ holding, write })))
  const chosen = pairs.find(({ holding, write }) => mayWrite(holding, rows, write)) ?? pairs[0]
  if (chosen === undefined) return
  const { holding, write } = chosen
  await world.fill(rows)
  const { status } = await world.send(holding.caller.userId, ...requestFor(write))
  if (status < 300) world.spoil()
  count(`write done ${status < 300 ? '20x' : status}`)
  if (changesNothing(holding, rows, write)) return
  if (status < 300) expect(mayWrite(before, rows, write), `${JSON.stringify(write)} ${story}`).toBe(true)
}

/** A key reads what its user reads, or nothing where its scope leaves none of it. */
async function expectScopesKept(world: DelegationWorld, { keys }: Estate, { story, count }: Told) {
  const asked = keys.slice(-1).flatMap((key) => names.map((name) => ({ ...key, name })))
  for (const { id, userId, scopes, name } of asked) {
    const path = `${base}/${name}?limit=-1`
    const [own, by] = await Promise.all([world.send(userId, 'GET', path), world.send(id, 'GET', path)])
    count(`read by key ${by.status}`)
    if (by.status >= 400) continue
    expect(leavesReading(scopes, name), `${name} by ${id} ${story}`).toBe(true)
    expect(by, story).toEqual(own)
  }
}

/** What was given admits to the same rows whatever is in cells that the giver does not see. */
function expectNothingTold({ before, after, rows, story, count }: Comparison) {
  const readers = after.filter(({ policies }) => policies.length > 0)
  if (readers.length === 0) return
  const admitted = readers.map((reader) => admittedBy(reader, rows))
  for (const changed of unseenChanges(before, readers, rows)) {
    count('unseen change')
    const told = `${JSON.stringify(rows)} and ${JSON.stringify(changed)} by ${story}`
    expect(
      readers.map((reader) => admittedBy(reader, changed)),
      told,
    ).toEqual(admitted)
  }
}

type Answered = Comparison & { readonly draw: Draw }

/** Rows are read as they are, and again with a change that the manager did not see, neither by one policy nor by all. */
async function expectNoMoreAnswers(world: DelegationWorld, { before, after, rows, draw, story, count }: Answered) {
  const readers = after.filter(({ policies }) =>
    policies.some(({ collections }) => Object.keys(collections).length > 0),
  )
  if (readers.length === 0) return
  const one = await answersOf(world, readers)
  const cells = cellsOf(before, rows)
  for (const { name, items } of one.seen) {
    const told = items.map((item) => (item.personId == null || item.postId == null ? item : identified(name, item)))
    const seen = told.filter(({ id }) => Number(id) > 0)
    const read = seen.flatMap(({ id, ...item }) => [
      `${name}/${id}`,
      ...Object.entries(item).flatMap(([member, value]) => (value === null ? [] : [`${name}/${id}/${member}`])),
    ])
    count('cells read')
    expect(beyond(new Set(read), cells), story).toEqual([])
    const readable = (rows[name] ?? []).filter(({ id }) => cells.has(`${name}/${id}`))
    expect(items.length, story).toBeLessThanOrEqual(readable.length)
  }
  const view = viewsOf(before, rows)
  const changes = Array.from({ length: 4 }, () => draw(fc.constantFrom(...names).chain(anyChangeOf)))
  const candidates = [
    ...[...unseenChanges(before, readers, rows)].slice(0, 8),
    ...changes.map((change) => applied(rows, change) ?? rows),
  ].filter((changed) => changed !== rows && viewsOf(before, changed) === view)
  if (candidates.length === 0 || draw(fc.integer({ min: 0, max: 2 })) > 0) return
  await world.fill(draw(fc.constantFrom(...candidates)))
  const other = await answersOf(world, readers)
  await world.fill(rows)
  count('read with an unseen change')
  expect(other.texts, story).toEqual(one.texts)
}

/** What a reader sees of all rows, by each of the policies and by all of them together. */
function viewsOf({ policies, caller }: Holding, rows: Rows): string {
  const parts: readonly (readonly Policy[])[] = [policies, ...policies.map((policy) => [policy])]
  return JSON.stringify(parts.map((part) => viewOf(part, caller, rows)))
}

function viewOf(policies: readonly Policy[], caller: Caller, rows: Rows): unknown {
  const naive = naiveRules(policies, caller, rows)
  return names.map((name) =>
    (rows[name] ?? [])
      .filter((row) => naive.isReadable(name, row))
      .map((row) => [
        row.id,
        ...membersOf(name).map((member) => (naive.isSeen(name, row, member) ? (row[member] ?? 'seen') : 'unseen')),
      ])
      .toSorted(([one], [other]) => Number(one) - Number(other)),
  )
}

/** Everything that they read of the collections, and one of the rows by its key. */
async function answersOf(world: DelegationWorld, readers: readonly Holding[]) {
  const asked = readers.flatMap(({ policies, caller }) =>
    names
      .filter((name) => policies.some(({ collections }) => collections[name]?.read !== undefined))
      .map((name) => ({ name, userId: caller.userId })),
  )
  const replies = await Promise.all(
    asked.map(({ name, userId }) => world.send(userId, 'GET', `${base}/${name}?limit=-1&meta=totalCount`)),
  )
  const seen = replies.map(({ status, text }, index) => ({
    name: asked[index]?.name ?? 'people',
    items: status === 200 ? (JSON.parse(text) as { data: readonly Row[] }).data : [],
  }))
  return { texts: replies.map(({ status, text }) => `${status} ${text}`), seen }
}
