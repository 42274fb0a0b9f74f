/**
 * Relations into another data source, and relations of a source that cannot follow any. Far rows are looked up by key
 * in batches, never one per row, with the access to the far collection that the plan carries. Conditions on far rows
 * become lists of keys beforehand, and are refused if there are too many (docs/decisions/023).
 */
import { ServiceError } from '../core/error.ts'
import { elementsOf, listText, membersOf } from '../core/json-cut.ts'
import type { Model, SourceRecord } from '../core/model/model.ts'
import { faultOf } from '../core/plan/operation-fault.ts'
import type { BatchPlan, Plan, PlannedOperation, ReadPlan, Selection, WritePlan } from '../core/plan/plan.ts'
import {
  crossSourceConditions,
  type IsLocal,
  ordersElsewhere,
  type SplitSelection,
  splitSelection,
  withConditions,
  withLocalForms,
  withSelection,
} from '../core/plan/relations.ts'
import { queryFault } from '../core/query/parse.ts'
import { isOutdated, withinTerm } from '../core/sql/begin/plan-term.ts'
import { answerRoom } from './answer-room.ts'
import { answers } from './cross-source/conditions.ts'
import { complete } from './cross-source/look-up.ts'
import { type Open, onlyJoin, type Run } from './cross-source/run.ts'
import type { ListAnswer, Source } from './source.ts'

/** Returns sources by id, each able to follow every relation of the model. */
export function withCrossSourceRelations(
  model: Model,
  openSource: (record: SourceRecord) => { readonly source: Source; readonly followsRelations: boolean },
): Open {
  const known = new Map<string, Source>()
  const open: Open = (sourceId) => {
    const earlier = known.get(sourceId)
    if (earlier !== undefined) return earlier
    const record = model.sources.get(sourceId)
    if (record === undefined) throw new Error(`the model refers to the source ${sourceId}, which it does not have`)
    const { source, followsRelations } = openSource(record)
    const made = acrossSources(source, localTo(sourceId, followsRelations), open)
    known.set(sourceId, made)
    return made
  }
  return open
}

/** Wraps `source` so that it runs plans with any relations. `open` returns the wrapped source of another collection. */
function acrossSources(source: Source, isLocal: IsLocal, open: Open): Source {
  /** Returns the plan that the source runs, with far conditions resolved, and the missing parts of its rows. */
  async function local<P extends Plan>(
    plan: P,
    run: Run,
  ): Promise<{ readonly plan: P; readonly split: SplitSelection }> {
    const answered = withConditions(plan, await answers(crossSourceConditions(plan, isLocal), run))
    const split = splitSelection(answered.selection, isLocal)
    return { plan: withSelection(answered, split.local), split }
  }

  const isPlain = (plan: Plan) => {
    refuseElsewhere(plan, isLocal)
    return splitSelection(plan.selection, isLocal).isWhole && crossSourceConditions(plan, isLocal).length === 0
  }

  const completed = async (text: string, split: SplitSelection, run: Run) =>
    split.isWhole ? text : listText(await complete(elementsOf(text).map(membersOf), split, run))

  /** A write that is done must not report an error: if a look-up fails, the answer omits far rows. */
  const completedWrite = (text: string, split: SplitSelection, run: Run) =>
    withinTerm(run.options?.term, completed(text, split, run)).catch((cause: unknown) => {
      if (cause instanceof ServiceError || isOutdated(cause)) return completed(text, withoutFar(split), run)
      throw cause
    })

  /** Throws for plans that no source can run. Returns the batch with the forms of items that the source can compare. */
  function comparable(plan: BatchPlan): BatchPlan {
    const operations = plan.operations.map((operation, index) => {
      try {
        const own = withLocalForms(operation.plan, isLocal)
        if (own.kind !== 'read') refuseWritesElsewhere(own)
        refuseElsewhere(own, isLocal)
        if (own.kind !== 'read') requireFollowable(splitSelection(own.selection, isLocal))
        // Keeps the operation object if it is unchanged, because caches use it as key.
        return own === operation.plan ? operation : { ...operation, plan: own }
      } catch (error) {
        throw faultOf(error, index)
      }
    })
    return { ...plan, operations }
  }

  /** Returns the batch that the source runs, and the function that completes its lists. */
  async function localBatch(plan: BatchPlan, run: Run) {
    const splits: SplitSelection[] = []
    const operations: PlannedOperation[] = []
    for (const operation of plan.operations) {
      const own = await local(operation.plan, run)
      splits.push(own.split)
      operations.push({ ...operation, plan: own.plan })
    }
    const finish = operations.every((operation) => operation.plan.kind === 'read') ? completed : completedWrite
    return {
      own: { ...plan, operations },
      async whole<Lists extends ListAnswer | undefined>(lists: readonly Lists[]): Promise<readonly Lists[]> {
        const made: Lists[] = []
        for (const [index, list] of lists.entries()) {
          const split = splits[index]
          made.push(list && split ? { ...list, data: await finish(list.data, split, run) } : list)
        }
        return made
      },
    }
  }

  return {
    heldTexts: async (column, texts, options) => source.heldTexts?.(column, texts, options) ?? texts,

    repeatsByKey: async (collection) => source.repeatsByKey?.(collection) ?? false,

    prepareLong: (plan) => (isPlain(plan) ? source.prepareLong?.(plan) : undefined),

    prepareEstimate: (plan) => (isPlain({ ...plan, selection: [] }) ? source.prepareEstimate?.(plan) : undefined),

    prepareList(plan) {
      requireLocalGroups(plan, isLocal)
      if (isPlain(plan)) return source.prepareList(plan)
      return async (bindings, options) => {
        const run = { open, bindings, options, room: answerRoom() }
        const own = await local(plan, run)
        const answer = await source.prepareList(own.plan)(bindings, options)
        return { ...answer, data: await completed(answer.data, own.split, run) }
      }
    },

    prepareOne(plan) {
      if (isPlain(plan)) return source.prepareOne(plan)
      return async (bindings, options) => {
        const run = { open, bindings, options, room: answerRoom() }
        const own = await local(plan, run)
        const text = await source.prepareOne(own.plan)(bindings, options)
        return text === undefined ? undefined : (await completed(`[${text}]`, own.split, run)).slice(1, -1)
      }
    },

    prepareChanges: (plan, changes) => async (bindings, options) => {
      if (source.prepareChanges === undefined) throw new TypeError('the source records no changes')
      const own = await local(plan.item, { open, bindings, options, room: answerRoom() })
      return source.prepareChanges({ ...plan, item: own.plan }, changes)(bindings, options)
    },

    prepareBatch(batch) {
      const plan = comparable(batch)
      if (plan.operations.every((operation) => isPlain(operation.plan))) return source.prepareBatch(plan)
      return async (bindings, options) => {
        const { own, whole } = await localBatch(plan, { open, bindings, options, room: answerRoom() })
        return whole(await source.prepareBatch(own)(bindings, options))
      }
    },

    async writeOnce(write) {
      const plan = comparable(write.plan)
      if (plan.operations.every((operation) => isPlain(operation.plan))) return source.writeOnce({ ...write, plan })
      const run = { open, bindings: write.bindings, options: { term: write.term }, room: answerRoom() }
      const { own, whole } = await localBatch(plan, run)
      const outcome = await source.writeOnce({ ...write, plan: own })
      if (outcome.kind === 'written') return { ...outcome, answer: await whole(outcome.answer) }
      return outcome.kind === 'known' ? { ...outcome, completed: whole } : outcome
    },
  }
}

/** Refuses to group rows of one source by values of another. */
function requireLocalGroups({ grouping }: ReadPlan, isLocal: IsLocal): void {
  const far = grouping?.groups.findIndex(({ path }) => path.some(({ relation }) => !isLocal(relation))) ?? -1
  if (far >= 0)
    throw queryFault(`group[${far}]`, 'cannot be followed to group by the items of another data source', '4010')
}

/** Whether a source follows a relation itself: both ends are in one database that supports relations. */
function localTo(sourceId: string, followsRelations: boolean): IsLocal {
  return ({ target }) => followsRelations && target.sourceId === sourceId
}

function refuseElsewhere(plan: Plan, isLocal: IsLocal): void {
  refuseOrdersElsewhere(plan, isLocal)
  refuseListsElsewhere(plan.selection, isLocal)
}

/** Refuses to sort by far rows, because the source sorts its own rows. */
function refuseOrdersElsewhere(plan: Plan, isLocal: IsLocal): void {
  const [relation] = ordersElsewhere(plan, isLocal)
  if (relation === undefined) return
  throw queryFault(`sort.${relation.apiName}`, 'cannot be followed to sort by the items of another data source', '4010')
}

/** Refuses aggregates and cursors of far rows: look-ups by key give them no order, and may leave some out. */
function refuseListsElsewhere(selection: Selection, isLocal: IsLocal): void {
  for (const selected of selection) {
    if (selected.kind !== 'relation' && selected.kind !== 'aggregates') continue
    const isList = selected.kind === 'relation'
    if (isLocal(selected.relation)) {
      if (isList) refuseListsElsewhere(selected.selection, isLocal)
      continue
    }
    const walk = isList ? selected.page?.walk : undefined
    const argument =
      selected.aggregates !== undefined
        ? '_aggregate'
        : walk !== undefined && (walk.start === undefined ? '_meta' : '_after')
    if (argument) {
      throw queryFault(`deep.${selected.name}.${argument}`, 'is not known of items of another data source', '4010')
    }
  }
}

/** Refuses writes of several sources, because a transaction cannot span them. */
function refuseWritesElsewhere(plan: WritePlan): void {
  if (plan.kind !== 'program') return
  const sources = new Set(
    plan.steps.flatMap((step) => {
      if (step.kind === 'find' || step.kind === 'insert') return [step.into.collection.sourceId]
      return [step.slot.collection.sourceId]
    }),
  )
  if (sources.size > 1) {
    throw queryFault('body', 'cannot write items of several data sources: give the key of the other item instead')
  }
}

/** Refuses relations that cannot be followed, before the write instead of after it. */
function requireFollowable({ parts }: SplitSelection): void {
  for (const part of parts) {
    if (part.kind === 'elsewhere') onlyJoin(part.selected.relation)
    if (part.kind === 'within') requireFollowable(part.split)
  }
}

/** Omits the rows of other sources. */
function withoutFar(split: SplitSelection): SplitSelection {
  const parts = split.parts
    .filter(({ kind }) => kind !== 'elsewhere')
    .map((part) => (part.kind === 'within' ? { ...part, split: withoutFar(part.split) } : part))
  return { ...split, parts }
}
