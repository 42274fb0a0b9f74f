/** A call that waits for its user, as it is stored: its arguments, and of a change of the model what its dry run says. */
import { type Operation, schema } from 'governed-data-client/system'
import { useEffect } from 'preact/hooks'
import type { Call } from '../../data/assistant.ts'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { assistantTexts } from '../../messages/assistant.ts'
import { Fault, Skeleton } from '../../ui/notice.tsx'
import { backOf } from '../model/data.ts'
import { lossIn, type Review, ReviewContent } from '../review/sheet.tsx'
import { argumentsOf, unpacked } from './arguments.ts'
import { Arguments } from './arguments-list.tsx'
import styles from './assistant.module.css'
import { keyTexts, Subject } from './subject.tsx'

type CallProps = {
  readonly workspace: string
  readonly call: Omit<Call, 'id'>
  readonly isPending: boolean
  readonly isFailing: boolean
  readonly onOutlook: (outlook: Outlook) => void
}

/** What is known of a call before it is decided on. */
export type Outlook = {
  /** The item that it is about is not there, not to be seen or kept by others, or the change of the model is refused. */
  readonly isFailing: boolean
  /** What it does is not known yet. */
  readonly isOpen?: boolean
  /** What loses rows or values by it. */
  readonly lost?: string | undefined
}

export function CallContent({ workspace, call, isPending, isFailing, onOutlook }: CallProps) {
  const texts = assistantTexts.value
  const sent = argumentsOf(call.arguments) ?? { arguments: call.arguments }
  const change = isPending ? modelChangeOf(call.tool, sent) : undefined
  const subject = subjectOf(call.tool, sent)
  const title = isPending && !isFailing ? texts.exactly : texts.proposed
  const all = <Arguments values={sent} />
  return (
    <>
      {subject && (
        <Subject
          workspace={workspace}
          isDeletion={isPending && call.tool === 'delete_item'}
          onFailing={(isFailing) => onOutlook({ isFailing })}
          {...subject}
        />
      )}
      {change && <Effects workspace={workspace} change={change} onOutlook={onOutlook} />}
      {subject || change ? (
        <details class={styles.step}>
          <summary>{title}</summary>
          {all}
        </details>
      ) : (
        <>
          <p class={styles.quiet}>{title}</p>
          {all}
        </>
      )}
    </>
  )
}

type ModelChange = { readonly operations: readonly Operation[] } | { readonly model: object }

/** What a call changes of the data model, by operations or by a file. */
function modelChangeOf(tool: string, sent: Readonly<Record<string, unknown>>): ModelChange | undefined {
  const [operations, model] = [unpacked(sent.operations), unpacked(sent.model)]
  if (tool === 'mutate_schema' && Array.isArray(operations)) return { operations }
  return tool === 'apply_model' && typeof model === 'object' && model !== null ? { model } : undefined
}

/** The one item that a call deletes or changes. */
function subjectOf(tool: string, { collection, key, data }: Readonly<Record<string, unknown>>) {
  if (!['delete_item', 'update_item'].includes(tool) || typeof collection !== 'string' || key === undefined) return
  return { collection, itemKey: keyTexts(unpacked(key)), ...(tool === 'update_item' && { data: unpacked(data) }) }
}

type EffectsProps = Pick<CallProps, 'workspace' | 'onOutlook'> & { readonly change: ModelChange }

function Effects({ workspace, change, onOutlook }: EffectsProps) {
  const { data, error, refetch } = useQuery<Review>({
    queryKey: ['dryRun', workspace, change],
    queryFn: () => reviewOf(workspace, change),
    staleTime: 0,
  })
  const isRefused = error !== null && error.status >= 400 && error.status < 500
  useEffect(() => {
    const isOpen = data === undefined && !isRefused
    onOutlook({ isFailing: isRefused, isOpen, lost: lossIn(data?.rows)?.collection })
  }, [isRefused, data])
  if (error) return <Fault error={error} onRetry={() => void refetch()} />
  return data === undefined ? <Skeleton lines={3} /> : <ReviewContent {...data} />
}

async function reviewOf(workspace: string, change: ModelChange): Promise<Review> {
  const models = schema(clientOf(workspace))
  if ('operations' in change) {
    const { inverse, restoresData, ...effects } = await models.dryRun(change.operations).orThrow()
    return { ...effects, back: backOf({ inverse, restoresData }) }
  }
  const { changes, statements, destructive } = await models.plan(change.model).orThrow()
  return {
    changes,
    statements,
    rows: destructive.map(({ path, rows }) => ({ collection: path, rows, destroys: true })),
  }
}
