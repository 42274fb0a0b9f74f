/** Explains why a principal of a workspace may do something, or may not (docs/contract.md#explaining-access). */
import type { Action } from '../../core/access/access.ts'
import { viewerOf } from '../../core/access/merge.ts'
import { type Principal, requireEntitlement } from '../../core/access/principal.ts'
import type { boundsOf, Explanation, Judgement } from '../../core/manifest/explanation.ts'
import { and, type Filter, none } from '../../core/query/filter.ts'
import type { Ports } from '../../ports/ports.ts'
import type { RequestScope } from '../caller/callers.ts'
import { type LazyBody, notFound } from '../caller/directory.ts'
import type { Items } from '../data/items.ts'
import { noRecord } from '../data/only-item.ts'
import type { ModelCache } from '../model/model-cache.ts'
import { anonymousPrincipal, principalOfMember, principalOfRoles } from '../rights/principals.ts'
import type { LoadDeclarations } from './declarations.ts'

/** May a user, roles or anonymous callers do this? `key` is the value of a primary key, or an object of its fields. */
export type AccessQuestion = {
  readonly of:
    | { readonly kind: 'user'; readonly id: string }
    | { readonly kind: 'roles'; readonly ids: readonly string[] }
    | { readonly kind: 'anonymous' }
  readonly collection: string
  readonly action: Action
  readonly key?: unknown
  readonly field?: string | undefined
}

export type ExplainedPolicy = {
  readonly id: string
  readonly name: string
  /** Null if it depends on the user who has the roles. */
  readonly allows: boolean | null
  readonly reason?: 'action' | 'filter' | 'field' | 'user'
  readonly condition?: Readonly<Record<string, unknown>>
}

/** For an item, `allowed` is null if it depends on the user who has the roles. */
export type ExplainedAccess = { readonly allowed: boolean | null; readonly policies: readonly ExplainedPolicy[] }

export type Explanations = {
  /**
   * Throws 403 without workspaceMembers:read; 404 for a user who is no member, an unknown role, and an item that the caller may
   * not read; 422 for names that the caller does not know; and 403 if a condition uses fields that the caller may not read.
   */
  explain(scope: RequestScope, sent: LazyBody<AccessQuestion>): Promise<ExplainedAccess>
}

export type ExplanationsDeps = {
  readonly ports: Pick<Ports, 'database'>
  readonly models: ModelCache
  readonly declarations: LoadDeclarations
  readonly items: Pick<Items, 'meets'>
}

export function createExplanations(deps: ExplanationsDeps): Explanations {
  const { ports, models, declarations, items } = deps

  return {
    async explain(scope, sent) {
      requireEntitlement(scope.rights, 'workspaceMembers:read')
      const { of, key, ...sentQuestion } = await sent()
      const { workspace, snapshot, rights } = scope
      const core = await import('../../core/manifest/explanation.ts')
      const principal = await principalOf(ports, workspace.id, of)
      const model = await models.load(workspace, snapshot.modelVersion)
      const question = {
        ...sentQuestion,
        model,
        declared: await declarations(workspace, model),
        callerRights: rights,
        principal,
      }
      const explanation = core.explain(question)
      if (key === undefined) return answered(explanation)
      if (viewerOf(rights, model).accessTo(explanation.collection, 'read').kind === 'denied') return noRecord()
      core.requireKnownNames(question, explanation)
      const run = await items.meets(
        scope,
        sentQuestion.collection,
        { kind: 'value', value: key },
        (current, callerRights) => {
          const { together, policies, findable } = core.explain({ ...question, model: current, callerRights })
          const rows = [and([rowsOf(together), findable]), ...policies.map(({ judgement }) => rowsOf(judgement))]
          return boundedBy(core, principal, rows)
        },
      )
      const [isAllowed = false, ...results] = verdictsOf(principal, await run.answer)
      return answered(explanation, { isAllowed, results })
    },
  }
}

async function principalOf(
  { database }: Pick<Ports, 'database'>,
  workspaceId: string,
  of: AccessQuestion['of'],
): Promise<Principal> {
  if (of.kind === 'anonymous') return anonymousPrincipal(database, workspaceId)
  if (of.kind === 'user') return (await principalOfMember(database, workspaceId, of.id)) ?? notFound('users')
  return (await principalOfRoles(database, workspaceId, of.ids)) ?? notFound('roles')
}

/** The rows in which the action is allowed. */
export function rowsOf(judgement: Judgement): Filter {
  return judgement.kind === 'allowed' ? judgement.rows : none
}

/** For roles without a particular user, two conditions each: the rows where it holds for every user, and where it may. */
export function boundedBy(
  core: { readonly boundsOf: typeof boundsOf },
  { isAnybody }: Principal,
  rows: readonly Filter[],
): readonly Filter[] {
  if (!isAnybody) return rows
  return rows.flatMap((one) => {
    const { always, perhaps } = core.boundsOf(one)
    return [always, perhaps]
  })
}

/** The results of `boundedBy` as verdicts: null if the condition holds for some users only. */
export function verdictsOf({ isAnybody }: Principal, results: readonly boolean[]): readonly (boolean | null)[] {
  if (!isAnybody) return results
  return results.flatMap((always, at) => (at % 2 === 1 ? [] : [always || (results[at + 1] === true ? null : false)]))
}

/** Without a row, a policy that allows some rows counts as allowing. */
function answered(
  { together, policies }: Explanation,
  row?: { readonly isAllowed: boolean | null; readonly results: readonly (boolean | null)[] },
): ExplainedAccess {
  return {
    allowed: row === undefined ? together.kind === 'allowed' : row.isAllowed,
    policies: policies.map(({ id, name, judgement, condition }, index) => {
      const isRefused = judgement.kind === 'refused'
      const allows = isRefused ? false : row === undefined || (row.results[index] ?? null)
      const reason = isRefused ? judgement.reason : allows === null ? 'user' : 'filter'
      const showsCondition = condition !== undefined && !isRefused
      return { id, name, allows, ...(allows !== true && { reason }), ...(showsCondition && { condition }) }
    }),
  }
}
