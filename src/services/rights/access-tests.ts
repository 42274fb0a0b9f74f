/**
 * Access tests (docs/contract.md#access-tests): saved expectations about an account's rights. A change of rights that makes a
 * test fail is refused, unless the caller allows it.
 */
import {
  type Expectation,
  expectedOf,
  isOfItems,
  MOST_ACCESS_TESTS,
  shownExpectation,
  storedExpectation,
} from '../../core/access/expectation.ts'
import { viewerOf } from '../../core/access/merge.ts'
import { hasEntitlement, type Principal, requireEntitlement } from '../../core/access/principal.ts'
import { codedError, nested, ServiceError } from '../../core/error.ts'
import { shortName } from '../../core/message-text.ts'
import type { Collection, Model } from '../../core/model/model.ts'
import { pause, startAge } from '../../ports/clock.ts'
import type { Ports } from '../../ports/ports.ts'
import { type AccessTestRow, deleteAccessTest, insertAccessTest, loadAccessTests } from '../../store/access-tests.ts'
import { breaksLimit, breaksReference, isDuplicate } from '../../store/failed-batch.ts'
import { loadMember } from '../../store/members.ts'
import { loadRightsOutline, loadRoles, type RightsOutline } from '../../store/roles.ts'
import { recordWorkspaceEvent } from '../caller/audit.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { LazyBody } from '../caller/directory.ts'
import type { BrokenTests } from '../model/migration-effects.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { loadCurrentModel } from './delegation.ts'
import { anybodyIn, outlineAfter, principalIn, publicRoles, type RightsPlan } from './outline.ts'

/** `as` names the principal: `user:<id>`, `role:<id>` or `anonymous`. */
export type NewAccessTest = Expectation & { readonly name: string; readonly as: string; readonly collection: string }

export type AccessTest = NewAccessTest & { readonly id: string }

/** `passed` is null if the caller may not know the result, or the result is unknown now. */
export type JudgedTest = { readonly id: string; readonly name: string; readonly passed: boolean | null }

export type AccessTests = {
  /**
   * Returns all tests by name; tests about items only for callers who may read all items. Throws 403 without
   * workspaceMembers:read and edit, and dataModel:read.
   */
  list(scope: RequestScope): Promise<readonly AccessTest[]>
  /** Throws like `list`, 422 for what the workspace does not have, 409 for a taken name and above the maximum number of tests. */
  create(scope: RequestScope, sent: LazyBody<NewAccessTest>): Promise<AccessTest>
  /** Throws like `list`, and 404 for an unknown test. */
  delete(scope: RequestScope, id: string): Promise<void>
  /** Returns the results of all tests under these rights, as far as the caller may know them. */
  judge(scope: RequestScope, outline: RightsOutline): Promise<readonly JudgedTest[]>
  /**
   * Throws 409 with the tests that pass now and would fail after the change, or if judging takes too long. Does nothing if
   * tests may fail.
   */
  keep(scope: RequestScope, plan: RightsPlan, tests: TestsIn): Promise<void>
  /** Returns the tests that a change of the model deletes with what they name, and those that pass and would fail. */
  brokenBy: BrokenTests
}

/** Whether a change may make tests fail. */
export type TestsIn = { readonly mayFail: boolean }

/** Returns whether a principal meets an expectation; null if the caller may not know. */
export type JudgeTest = (
  scope: RequestScope,
  expectation: Expectation,
  of: { readonly principal: Principal; readonly model: Model; readonly collection: Collection },
) => Promise<boolean | null>

export type AccessTestsDeps = {
  readonly ports: Pick<Ports, 'clock' | 'database' | 'ids'>
  readonly models: ModelCache
  readonly judgeTest: JudgeTest
}

/** Tests that are judged in parallel. */
const AT_ONCE = 4
/** Milliseconds after which a change is refused, so that slow tests do not block others who revoke rights. */
const KEEP_WITHIN = 10_000
/** Maximum number of tests that a refusal names. */
const NAMED = 20

export function createAccessTests(deps: AccessTestsDeps): AccessTests {
  const { ports, models, judgeTest } = deps
  const { database, ids } = ports

  const currentModel = (scope: RequestScope) => loadCurrentModel(database, models, scope.workspace)

  async function judged(
    scope: RequestScope,
    tests: readonly AccessTestRow[],
    { outline, model, goOn }: { readonly outline: RightsOutline; readonly model: Model; readonly goOn?: () => void },
  ): Promise<readonly JudgedTest[]> {
    const found: JudgedTest[] = []
    for (let at = 0; at < tests.length; at += AT_ONCE) {
      goOn?.()
      const some = tests.slice(at, at + AT_ONCE).map(async (test) => {
        const { id, name } = test
        // The tests wait for I/O in parallel; the pause lets other requests run between their computations.
        await pause()
        return { id, name, passed: await passes(scope, test, { outline, model }) }
      })
      found.push(...(await Promise.all(some)))
    }
    return found
  }

  async function passes(
    scope: RequestScope,
    test: AccessTestRow,
    { outline, model }: { readonly outline: RightsOutline; readonly model: Model },
  ): Promise<boolean | null> {
    const collection = model.collections.get(test.collectionId)
    if (collection === undefined) return null
    const expectation = shownExpectation(test.expectation, collection)
    if (expectation === undefined || !mayShowExpectation(scope, expectation, { model, collection })) return null
    return judgeTest(scope, expectation, { principal: principalOf(outline, test), model, collection })
  }

  return {
    async list(scope) {
      requireInsight(scope)
      const [tests, model] = await Promise.all([
        loadAccessTests(database, scope.workspace.apiName),
        currentModel(scope),
      ])
      return tests.flatMap((test) => shown(scope, test, model))
    },

    async create(scope, sent) {
      requireInsight(scope)
      const { name, as, collection: named, ...expected } = await sent()
      const { workspace } = scope
      const [model, of] = await Promise.all([currentModel(scope), subjectOf(ports, workspace.id, as)])
      const collection = expectedOf(model, named)
      const expectation = storedExpectation(expected, collection, model)
      const test = { id: ids.next(), name, collectionId: collection.id, ...of, expectation }
      const target = { type: 'accessTest', id: test.id } as const
      const payload = { name, as, collection: named, action: expected.action, allowed: expected.expect.allowed }
      try {
        await database.batch([
          insertAccessTest(workspace.apiName, test),
          recordWorkspaceEvent(ids, scope, { action: 'access_test.create.v1', target, payload }),
        ])
      } catch (cause) {
        if (isDuplicate(cause)) throw new ServiceError('conflict', 'An access test of this name already exists')
        if (breaksLimit(cause, 'access_test_limit')) {
          throw new ServiceError('conflict', `A workspace has at most ${MOST_ACCESS_TESTS} access tests`)
        }
        if (breaksReference(cause)) throw new ServiceError('conflict', 'What it is about was deleted meanwhile')
        throw cause
      }
      return { id: test.id, name, as: nameOf(test), collection: named, ...expected }
    },

    async delete(scope, id) {
      requireInsight(scope)
      const { workspace } = scope
      const test = (await loadAccessTests(database, workspace.apiName)).find((one) => one.id === id)
      if (test === undefined) throw new ServiceError('notFound', 'Access test does not exist')
      const event = { target: { type: 'accessTest', id }, payload: { name: test.name } } as const
      await database.batch([
        deleteAccessTest(workspace.apiName, id),
        recordWorkspaceEvent(ids, scope, { action: 'access_test.delete.v1', ...event }),
      ])
    },

    async judge(scope, outline) {
      const tests = await loadAccessTests(database, scope.workspace.apiName)
      return tests.length === 0 ? [] : judged(scope, tests, { outline, model: await currentModel(scope) })
    },

    async keep(scope, plan, { mayFail }) {
      if (mayFail) return
      const { workspace } = scope
      const tests = await loadAccessTests(database, workspace.apiName)
      if (tests.length === 0) return
      const [before, model] = await Promise.all([loadRightsOutline(database, workspace.id), currentModel(scope)])
      const after = outlineAfter(before, plan)
      const age = startAge(ports.clock)
      const goOn = () => {
        if (age() > KEEP_WITHIN) throw failing('they take longer than 10 seconds to try', [])
      }
      const concerned = tests.filter((test) => isOther(principalOf(before, test), principalOf(after, test)))
      const is = await judged(scope, concerned, { outline: after, model, goOn })
      const failed = concerned.filter((_, at) => is[at]?.passed === false)
      const was = await judged(scope, failed, { outline: before, model, goOn })
      const broken = was.filter(({ passed }) => passed === true)
      if (broken.length === 0) return
      const named = broken.slice(0, NAMED).map(({ name }) => shortName(name))
      throw failing(named.join(', '), broken)
    },

    async brokenBy(scope, { before, after, lost }) {
      if (!hasInsight(scope)) return null
      const { workspace } = scope
      const tests = await loadAccessTests(database, workspace.apiName)
      if (tests.length === 0) return []
      const outline = await loadRightsOutline(database, workspace.id)
      // Tests about items are not judged: the rows exist only in the current tables.
      const kept = tests.filter((test) => !goesWith(test, lost) && !isOfItems(test.expectation))
      const is = await judged(scope, kept, { outline, model: after })
      const failing = kept.filter((_, at) => is[at]?.passed === false)
      const was = await judged(scope, failing, { outline, model: before })
      const broken = new Set(was.flatMap(({ id, passed }) => (passed === true ? [id] : [])))
      return tests.flatMap((test) =>
        goesWith(test, lost) || broken.has(test.id) ? [{ id: test.id, name: test.name }] : [],
      )
    },
  }
}

function failing(reason: string, tests: readonly JudgedTest[]): ServiceError {
  return codedError('4097', {
    cause: new ServiceError('conflict', reason),
    meta: { tests: tests.map(({ id, name }) => ({ id, name })) },
  })
}

const insight = ['workspaceMembers:read', 'workspaceMembers:edit', 'dataModel:read'] as const

/** Requires the entitlements for asking what other accounts may do. */
export function requireInsight({ rights }: RequestScope): void {
  for (const entitlement of insight) requireEntitlement(rights, entitlement)
}

function hasInsight({ rights }: RequestScope): boolean {
  return insight.every((entitlement) => hasEntitlement(rights, entitlement))
}

/** True for tests that the system database deletes with the change. */
function goesWith({ collectionId, expectation }: AccessTestRow, lost: ReadonlySet<string>): boolean {
  const text = JSON.stringify(expectation)
  return lost.has(collectionId) || [...lost].some((id) => text.includes(id))
}

/** Unchanged policies are the same objects. */
function isOther(one: Principal, other: Principal): boolean {
  const { policies } = other
  const isSame = one.policies.length === policies.length && one.policies.every((policy, at) => policy === policies[at])
  return !isSame || one.rights.kind !== other.rights.kind
}

/** The principal of a test in the outline; suspended and former members have no rights. */
function principalOf(outline: RightsOutline, { userId, roleId }: AccessTestRow): Principal {
  if (roleId !== null) return anybodyIn(outline, roleId)
  if (userId === null) return principalIn(outline, undefined, publicRoles(outline))
  const member = outline.members.find((one) => one.userId === userId)
  return principalIn(outline, userId, member?.roles ?? [])
}

type Subject = Pick<AccessTestRow, 'userId' | 'roleId'>

const FORM = /^(user|role):(.+)$/

async function subjectOf({ database }: Pick<Ports, 'database'>, workspaceId: string, as: string): Promise<Subject> {
  const [, kind, id = ''] = FORM.exec(as) ?? []
  if (kind === undefined) return { userId: null, roleId: null }
  const isThere =
    kind === 'user'
      ? (await loadMember(database, workspaceId, id)) !== undefined
      : (await loadRoles(database, workspaceId, [id])).length > 0
  if (!isThere) throw nested('invalid', ['Failed to read the JSON body', 'as', 'is nobody of this workspace'])
  return kind === 'user' ? { userId: id, roleId: null } : { userId: null, roleId: id }
}

function nameOf({ userId, roleId }: Subject): string {
  if (userId !== null) return `user:${userId}`
  return roleId === null ? 'anonymous' : `role:${roleId}`
}

/** Returns false for a test about items, if the caller may not read all items and fields. */
function mayShowExpectation(
  { rights }: RequestScope,
  expectation: Expectation,
  { model, collection }: { readonly model: Model; readonly collection: Collection },
): boolean {
  if (!isOfItems(expectation)) return true
  const access = viewerOf(rights, model).accessTo(collection, 'read')
  return (
    access.kind === 'granted' && access.grants.some(({ rows, fields }) => rows.kind === 'all' && fields === 'every')
  )
}

function shown(scope: RequestScope, test: AccessTestRow, model: Model): readonly AccessTest[] {
  const { id, name, collectionId } = test
  const collection = model.collections.get(collectionId)
  if (collection === undefined) return []
  const stored = shownExpectation(test.expectation, collection)
  const base = { id, name, as: nameOf(test), collection: collection.apiName }
  if (stored === undefined) return []
  if (mayShowExpectation(scope, stored, { model, collection })) return [{ ...base, ...stored }]
  const { key: _, filter: __, expect, ...others } = stored
  return [{ ...base, ...others, expect: { allowed: expect.allowed, ...(expect.fields && { fields: expect.fields }) } }]
}
