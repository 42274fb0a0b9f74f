/** A migration: what it would do, as its dry run says, before it is made. */
import { type Breaks, type DryRun, type Operation, schema } from 'governed-data-client/system'
import { useMemo, useState } from 'preact/hooks'
import { pathTo } from '../../app/router.ts'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { manifestQuery, modelChanged } from '../../data/workspaces.ts'
import { t } from '../../messages/messages.ts'
import { valuesTexts } from '../../messages/values.ts'
import { Fault, Notice, Skeleton } from '../../ui/notice.tsx'
import { searchOf } from '../grid/request.ts'
import { backOf } from '../model/data.ts'
import { applied, type Model, recordsOf } from '../model/records.ts'
import { faultOf, useSubmission } from '../submission.tsx'
import { obstacleRows, obstacleText } from './obstacle.ts'
import { realChanges, relationEffects } from './relations.ts'
import { Broken, lossIn, ReviewSheet, type ShownChange } from './sheet.tsx'

export type MigrationReviewProps = {
  readonly workspace: string
  readonly title: string
  readonly operations: readonly Operation[]
  /** What its button says; "Apply" where nothing better is known. */
  readonly label?: string
  /** After it is made and everything that follows from the model is asked for again. With what can take it back. */
  readonly onDone: (made: DryRun) => unknown
  readonly onClose: () => void
}

/** The error of a plan behind which the model is another. */
const MOVED = '4094'

/** Nothing can be made that was not shown: where the model has changed since, the new review is shown instead. */
export default function MigrationReview(props: MigrationReviewProps) {
  const { workspace, title, operations, label = t.value.model.apply, onDone, onClose } = props
  const models = schema(clientOf(workspace))
  const { data, error, isFetching, refetch } = useQuery<DryRun>({
    queryKey: ['dryRun', workspace, operations],
    queryFn: () => models.dryRun(operations).orThrow(),
    staleTime: 0,
  })
  const { data: manifest } = useQuery(manifestQuery(workspace))
  const model = useMemo(() => manifest && recordsOf(manifest, workspace), [manifest, workspace])
  const [moves, setMoves] = useState(0)
  const { fault, isBusy, submit } = useSubmission(async () => {
    if (data === undefined) return undefined
    const answer = await models.migrate(operations, { plan: data.plan })
    if (answer.ok) {
      await modelChanged(workspace)
      await onDone(data)
      return undefined
    }
    const isMoved = answer.error.code === MOVED
    if (!isMoved && obstacleText(answer.error) === undefined) return faultOf(answer)
    await modelChanged(workspace)
    await refetch()
    if (!isMoved) return undefined
    setMoves(moves + 1)
    return t.value.review.moved
  })
  const found = error && model ? obstacleRows(error, model, applied(model, operations)) : undefined
  const lost = lossIn(data?.rows)
  const destroys = lost !== undefined || (data !== undefined && data.inverse !== null && !data.restoresData)
  return (
    // What was typed was of another review.
    <ReviewSheet
      key={moves}
      title={title}
      review={isFetching || error ? { statements: [] } : reviewOf(data, model, operations)}
      label={label}
      look={destroys ? 'danger' : 'primary'}
      typed={lost?.collection}
      isBusy={isBusy || isFetching}
      isDisabled={data === undefined || error !== null}
      onConfirm={submit}
      onClose={onClose}
    >
      {fault && <Notice look="danger">{fault}</Notice>}
      {isFetching && <Skeleton lines={5} />}
      {error && !isFetching && (
        <>
          <Fault error={error} text={obstacleText(error)} onRetry={() => void refetch()} />
          {found && (
            <p>
              <a
                href={
                  pathTo(workspace, 'items', found.collection) + searchOf({ sort: undefined, filter: found.filter })
                }
              >
                {valuesTexts.value.obstacleRows}
              </a>
            </p>
          )}
          <InTheWay breaks={(error.meta ?? {}) as Partial<Breaks>} />
        </>
      )}
    </ReviewSheet>
  )
}

/** The policies that name what would be deleted. */
function InTheWay({ breaks }: { readonly breaks: Partial<Breaks> }) {
  if (!breaks.policies?.length) return null
  return (
    <>
      <p>{t.value.review.inTheWay}</p>
      <Broken breaks={breaks} />
    </>
  )
}

function reviewOf(run: DryRun | undefined, before: Model | undefined, operations: readonly Operation[]) {
  if (run === undefined) return undefined
  const { inverse, restoresData, ...effects } = run
  const changes = before ? shownChanges(run, before, operations) : run.changes
  return { ...effects, changes, back: backOf(run) }
}

function shownChanges({ changes }: DryRun, before: Model, operations: readonly Operation[]): readonly ShownChange[] {
  const after = applied(before, operations)
  const found = relationEffects(before, after)
  const sentences = valuesTexts.value.relation
  // A table that is called as the collection in whose list it stands goes without saying.
  const textsOf = (path: string) =>
    (found.get(path) ?? []).map(([kind, what]) => {
      const [, table, columns = ''] = /^(\w+) \(([^()]+)\)$/.exec(what) ?? []
      return sentences[kind](table !== undefined && path.startsWith(`${table}.`) ? columns : what)
    })
  return realChanges(changes, before, after).map((change) => {
    const { action, path } = change
    // Of a collection that is made what its relations are, too.
    const own = [...found.keys()].filter((one) => action === 'create' && one.startsWith(`${path}.`))
    const within = own.flatMap((one) => textsOf(one).map((text) => `${one.slice(path.length + 1)}: ${text}`))
    // Of a path that is renamed and changed, once.
    const isFirst = change === changes.find((one) => one.path === path)
    return { ...change, effects: isFirst ? [...textsOf(path), ...within] : [] }
  })
}
