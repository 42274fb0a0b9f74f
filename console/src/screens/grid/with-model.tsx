/** A screen of a collection, once its model is known; until then its shape, or why it does not come. */
import type { ComponentChildren } from 'preact'
import { useQuery } from '../../data/queries.ts'
import { Fault, Skeleton } from '../../ui/notice.tsx'
import { WhyRefused } from '../access/asking.tsx'
import { Missing } from '../missing.tsx'
import { type CollectionModel, modelQuery } from './model.ts'

type WithModelProps = {
  readonly workspace: string
  readonly collection: string
  /** The class of the page. */
  readonly look: string | undefined
  readonly children: (model: CollectionModel) => ComponentChildren
}

export function WithModel({ workspace, collection, look, children }: WithModelProps) {
  const { data: model, error, refetch } = useQuery(modelQuery(workspace, collection))
  const isMissing = model === null || error?.status === 404
  if (isMissing) return <Missing workspace={workspace} />
  if (error && !model) {
    return (
      <div class={look}>
        <Fault error={error} onRetry={() => void refetch()}>
          <WhyRefused workspace={workspace} error={error} question={{ collection, action: 'read' }} />
        </Fault>
      </div>
    )
  }
  return <div class={look}>{model ? children(model) : <Skeleton lines={10} />}</div>
}
