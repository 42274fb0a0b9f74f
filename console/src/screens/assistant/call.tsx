/** A call that waits for its user, as it is stored: its arguments, and of a change of the model what its dry run says. */
import { type DryRun, type Operation, schema } from 'governed-data-client/system'
import type { Call } from '../../data/assistant.ts'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { assistantTexts } from '../../messages/assistant.ts'
import { Fault, Skeleton } from '../../ui/notice.tsx'
import { Broken, Changes, Statements } from '../review/sheet.tsx'
import { argumentsOf, unpacked } from './arguments.ts'
import { Arguments } from './arguments-list.tsx'
import styles from './assistant.module.css'
import { keyTexts, Subject } from './subject.tsx'

type CallProps = { readonly workspace: string; readonly call: Omit<Call, 'id'>; readonly isPending: boolean }

export function CallContent({ workspace, call, isPending }: CallProps) {
  const sent = argumentsOf(call.arguments) ?? { arguments: call.arguments }
  const operations = call.tool === 'mutate_schema' ? unpacked(sent.operations) : undefined
  const subject = subjectOf(call.tool, sent)
  const all = <Arguments values={sent} />
  return (
    <>
      {subject && <Subject workspace={workspace} {...subject} />}
      {subject ? (
        <details class={styles.step}>
          <summary>{isPending ? assistantTexts.value.exactly : assistantTexts.value.sent}</summary>
          {all}
        </details>
      ) : (
        <>
          {isPending && <p class={styles.quiet}>{assistantTexts.value.exactly}</p>}
          {all}
        </>
      )}
      {isPending && Array.isArray(operations) && <Effects workspace={workspace} operations={operations} />}
    </>
  )
}

/** The one item that a call deletes or changes. */
function subjectOf(tool: string, { collection, key, data }: Readonly<Record<string, unknown>>) {
  if (!['delete_item', 'update_item'].includes(tool) || typeof collection !== 'string' || key === undefined) return
  return { collection, itemKey: keyTexts(unpacked(key)), ...(tool === 'update_item' && { data: unpacked(data) }) }
}

function Effects({ workspace, operations }: { readonly workspace: string; readonly operations: readonly Operation[] }) {
  const { data, error, refetch } = useQuery<DryRun>({
    queryKey: ['dryRun', workspace, operations],
    queryFn: () => schema(clientOf(workspace)).dryRun(operations).orThrow(),
    staleTime: 0,
  })
  if (error) return <Fault error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton lines={3} />
  return (
    <>
      <Changes changes={data.changes} />
      <Broken breaks={data.breaks} />
      <Statements statements={data.statements} />
    </>
  )
}
