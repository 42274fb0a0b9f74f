/** The item that a call is about, as people call it, and what the call changes of it. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { itemPath } from '../../app/router.ts'
import { numberText } from '../../data/exact-json.ts'
import { useQuery } from '../../data/queries.ts'
import { t } from '../../messages/messages.ts'
import { type CollectionModel, modelQuery, nameOf } from '../grid/model.ts'
import { textOf } from '../grid/values.ts'
import { Consequences } from '../item/consequences.tsx'
import { itemQuery } from '../item/item-query.ts'
import { Arguments, shown } from './arguments-list.tsx'
import styles from './assistant.module.css'

type SubjectProps = {
  readonly workspace: string
  readonly collection: string
  readonly itemKey: readonly string[]
  /** What it sets. */
  readonly data?: unknown
  /** Whether the call waits for its user and would delete the item. */
  readonly isDeletion: boolean
  /** Is told whether the call would fail: the item is not there or not to be seen, or something keeps it from being deleted. */
  readonly onFailing: (isFailing: boolean) => void
}

/** A text for each part of a key, as a call has it. */
export function keyTexts(key: unknown): readonly string[] {
  return (Array.isArray(key) ? key : [key]).map((part) => numberText(part) ?? textOf(part))
}

export function Subject(props: SubjectProps) {
  const { workspace, collection, itemKey, data } = props
  const { data: model } = useQuery(modelQuery(workspace, collection))
  const titleOf = (name: string) => model?.fields.find((field) => field.name === name)?.title ?? name
  const place = (
    <span class={styles.quiet}>
      <bdi>{model?.title ?? collection}</bdi> · <bdi>{itemKey.map(shown).join(', ')}</bdi>
    </span>
  )
  return (
    <>
      {model ? (
        <Item {...props} model={model}>
          {place}
        </Item>
      ) : (
        <p class={styles.subject}>{place}</p>
      )}
      {typeof data === 'object' && data !== null && Object.keys(data).length > 0 && (
        <Arguments values={data} titleOf={titleOf} />
      )}
    </>
  )
}

type ItemProps = SubjectProps & { readonly model: CollectionModel; readonly children: ComponentChildren }

function Item({ workspace, model, itemKey, isDeletion, onFailing, children }: ItemProps) {
  const { data: row, error } = useQuery(itemQuery({ workspace, model, itemKey }))
  const isMissing = error?.status === 404
  useEffect(() => onFailing(isMissing), [isMissing])
  return (
    <>
      <p class={styles.subject}>
        {row && (
          <a href={itemPath(workspace, model.name, itemKey)}>
            <bdi>{shown(nameOf(model, row))}</bdi>
          </a>
        )}
        {isMissing && <span class={styles.quiet}>{t.value.grid.nowhere}</span>}
        {children}
      </p>
      {row && isDeletion && <Consequences workspace={workspace} model={model} row={row} onKept={onFailing} />}
    </>
  )
}
