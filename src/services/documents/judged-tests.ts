/**
 * Judges access tests: compares a principal's rights with an expectation (docs/contract.md#access-tests).
 */
import { type Expectation, isOfItems } from '../../core/access/expectation.ts'
import { viewerOf } from '../../core/access/merge.ts'
import { usesCurrentUser } from '../../core/access/policy.ts'
import type { Rights } from '../../core/access/principal.ts'
import { ServiceError } from '../../core/error.ts'
import { and } from '../../core/query/filter.ts'
import type { RequestScope } from '../caller/callers.ts'
import type { Items } from '../data/items.ts'
import type { JudgeTest } from '../rights/access-tests.ts'
import { actingScope } from '../rights/act-as.ts'
import type { LoadDeclarations } from './declarations.ts'
import { boundedBy, rowsOf, verdictsOf } from './explanations.ts'

export type JudgeTestDeps = {
  readonly declarations: LoadDeclarations
  readonly items: Pick<Items, 'meets' | 'list'>
}

/** Returns null if a source does not answer, the caller may not read what decides, or it depends on a role's user. */
export function createJudgeTest(deps: JudgeTestDeps): JudgeTest {
  const { declarations, items } = deps

  return async (scope, expectation, { principal, model, collection }) => {
    const [core, { usableFields }, { modelViewOf }, declared] = await Promise.all([
      import('../../core/manifest/explanation.ts'),
      import('../../core/manifest/access-view.ts'),
      import('../../core/manifest/model-view.ts'),
      declarations(scope.workspace, model),
    ])
    const { action, key, field, expect } = expectation
    const target = { collection: collection.apiName, action, field }
    const question = { ...target, model, declared, callerRights: scope.rights, principal }
    const explained = core.explain({ ...question, callerRights: knowing })

    async function meets(): Promise<boolean | null> {
      core.requireKnownNames(question, explained)
      const run = await items.meets(scope, collection.apiName, { kind: 'value', value: key }, (current) => {
        const { together, findable } = core.explain({ ...question, model: current, callerRights: knowing })
        return boundedBy(core, principal, [and([rowsOf(together), findable])])
      })
      return verdictsOf(principal, await run.answer)[0] ?? null
    }

    async function isSo(): Promise<boolean | null> {
      const isAllowed = explained.together.kind === 'allowed'
      if (expect.fields !== undefined) {
        const viewer = viewerOf(core.rightsOf(principal), model)
        const usable = usableFields(collection, action, viewer, modelViewOf(viewer, declared))
        if (!isSame(usable, expect.fields)) return false
      }
      if (!isOfItems(expectation)) return isAllowed === expect.allowed
      if (key !== undefined) {
        const isAllowed = await meets()
        return isAllowed === null ? null : isAllowed === expect.allowed
      }
      if (isAllowed && principal.isAnybody && principal.policies.some(({ content }) => usesCurrentUser(content)))
        return null
      const counting = { rights: principal.rights, expectation, name: collection.apiName }
      const count = isAllowed ? await counted(items, scope, counting) : 0
      return count > 0 === expect.allowed && (expect.count ?? count) === count
    }

    return isSo().catch((error: unknown) => {
      if (error instanceof ServiceError) return null
      throw error
    })
  }
}

/** All names are visible here, because creating the test has checked them. */
const knowing: Rights = { kind: 'all' }

type Counting = { readonly rights: Rights; readonly expectation: Expectation; readonly name: string }

async function counted(
  items: Pick<Items, 'list'>,
  scope: RequestScope,
  { rights, expectation: { filter }, name }: Counting,
): Promise<number> {
  const reading = (within: RequestScope): RequestScope =>
    actingScope(within, rights, async () => reading(await within.again()))
  const body = { ...(filter !== undefined && { filter }), limit: 1, meta: 'totalCount' }
  const query = { sent: { body } }
  const { total = 0 } = await (await items.list(reading(scope), name, query)).answer
  return total
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  const names = new Set(others)
  return some.length === names.size && some.every((name) => names.has(name))
}
