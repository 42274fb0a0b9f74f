/** The item that a call is about, as people call it, and what the call changes of it. */
import { useEffect } from 'preact/hooks'
import { itemPath } from '../../app/router.ts'
import { numberText } from '../../data/exact-json.ts'
import { useQuery } from '../../data/queries.ts'
import { t } from '../../messages/messages.ts'
import { type CollectionModel, modelQuery, nameOf } from '../grid/model.ts'
import { textOf } from '../grid/values.ts'
import { itemQuery } from '../item/item-query.ts'
import { Arguments, shown } from './arguments-list.tsx'
import styles from './assistant.module.css'

type SubjectProps = {
  readonly workspace: string
  readonly collection: string
  readonly itemKey: readonly string[]
  /** What it sets; absent of a call that sets nothing. */
  readonly data?: unknown
  /** Is told whether it is not there, or not to be seen. */
  readonly onMissing: (isMissing: boolean) => void
}

/** A text for each part of a key, as a call has it. */
export function keyTexts(key: unknown): readonly string[] {
  return (Array.isArray(key) ? key : [key]).map((part) => numberText(part) ?? textOf(part))
}

export function Subject(props: SubjectProps) {
  const { workspace, collection, itemKey, data } = props
  const { data: model } = useQuery(modelQuery(workspace, collection))
  const titleOf = (name: string) => model?.fields.find((field) => field.name === name)?.title ?? name
  return (
    <>
      <p class={styles.subject}>
        {model && <Name {...props} model={model} />}
        <span class={styles.quiet}>
          <bdi>{model?.title ?? collection}</bdi> · <bdi>{itemKey.map(shown).join(', ')}</bdi>
        </span>
      </p>
      {typeof data === 'object' && data !== null && Object.keys(data).length > 0 && (
        <Arguments values={data} titleOf={titleOf} />
      )}
    </>
  )
}

function Name({ workspace, model, itemKey, onMissing }: SubjectProps & { readonly model: CollectionModel }) {
  const { data: row, error } = useQuery(itemQuery({ workspace, model, itemKey }))
  const isMissing = error?.status === 404
  useEffect(() => onMissing(isMissing), [isMissing])
  if (row) {
    return (
      <a href={itemPath(workspace, model.name, itemKey)}>
        <bdi>{shown(nameOf(model, row))}</bdi>
      </a>
    )
  }
  return isMissing ? <span class={styles.quiet}>{t.value.grid.nowhere}</span> : null
}
