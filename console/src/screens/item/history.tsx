/** Who changed what of an item, asked for when it is opened. A former state goes into the form, and is sent by nobody but its reader. */
import { useState } from 'preact/hooks'
import { quotedParts } from '../../app/router.ts'
import { clientOf } from '../../data/client.ts'
import { type Query, useQuery } from '../../data/queries.ts'
import { userId } from '../../data/session.ts'
import { formatTime, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Pending, Unseen } from '../../ui/notice.tsx'
import { CellContent, PlainValue } from '../grid/cell-content.tsx'
import { type Column, columnsOf } from '../grid/columns.ts'
import { type CollectionModel, modelQuery, nameOf, type ToOne } from '../grid/model.ts'
import { keyOf } from '../grid/rows.ts'
import { ownOf, type Row, textOf } from '../grid/values.ts'
import page from '../page.module.css'
import styles from './history.module.css'
import { type ItemPlace, itemQuery } from './item-query.ts'

/** `before` and `after` have the fields that were changed, by their names; of what there was not they are null. */
type Change = {
  readonly at: string
  readonly actor: string | null
  readonly action: 'create' | 'update' | 'delete'
  readonly before: Row | null
  readonly after: Row | null
}

type Changes = { readonly data: readonly Change[]; readonly meta: { readonly next: string | null } }

type HistoryProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly row: Row
  /** Whether the form has a field that a former state can be put into. */
  readonly mayTakeBack: (former: Row) => boolean
  readonly onTakeBack: (former: Row) => void
}

const PAGE = 20

/** Nothing of a collection that has none. */
export function History(props: HistoryProps) {
  const [isOpen, setOpen] = useState(false)
  const texts = t.value.item.history
  if (!props.model.hasHistory) return null
  return (
    <section class={page.stack} aria-label={texts.title}>
      <details class={styles.history} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <h2>{texts.title}</h2>
        </summary>
        {isOpen && <Page {...props} after={undefined} />}
      </details>
    </section>
  )
}

type PageProps = HistoryProps & { readonly after: string | undefined }

/** A page, and below it the next one once it is wanted. */
function Page(props: PageProps) {
  const { after } = props
  const [isMore, setMore] = useState(false)
  const { data, error, refetch } = useQuery(changesQuery(props))
  const texts = t.value.item.history
  if (data === undefined)
    return <Pending data={data} error={error} lines={after === undefined ? 4 : 2} onRetry={() => void refetch()} />
  const { next } = data.meta
  return (
    <>
      {data.data.length === 0 && after === undefined && <p class={page.quiet}>{texts.none}</p>}
      {data.data.length > 0 && (
        <ol class={styles.changes} tabIndex={-1} ref={after === undefined ? null : takeFocus}>
          {data.data.map((change, at) => (
            <One key={`${change.at} ${at}`} {...props} change={change} />
          ))}
        </ol>
      )}
      {next !== null && (isMore ? <Page {...props} after={next} /> : <More onMore={() => setMore(true)} />)}
    </>
  )
}

/** In place of the button that is gone, but not from whoever is elsewhere meanwhile. */
function takeFocus(list: HTMLElement | null): void {
  if (document.activeElement === document.body) list?.focus({ preventScroll: true })
}

function More({ onMore }: { readonly onMore: () => void }) {
  return (
    <p>
      <Button onClick={onMore}>{t.value.item.history.more}</Button>
    </p>
  )
}

function changesQuery({ workspace, model, row, after }: PageProps): Query<Changes> {
  const key = quotedParts(keyOf(model, row).map(textOf))
  const path = `items/${encodeURIComponent(model.name)}/${key.map(encodeURIComponent).join()}/changes`
  const query = { limit: PAGE, ...(after !== undefined && { after }) }
  return {
    queryKey: ['changes', workspace, model.name, ...key, after],
    queryFn: () => clientOf(workspace).$request<Changes>('GET', path, { query }).orThrow(),
    staleTime: 0,
  }
}

type OneProps = HistoryProps & { readonly change: Change }

function One({ workspace, model, change, mayTakeBack, onTakeBack }: OneProps) {
  const texts = t.value.item.history
  const { at, action, before, after } = change
  const time = formatTime(at, { dateStyle: 'medium', timeStyle: 'medium' })
  const columns = columnsOf({ fields: model.fields, toOne: [] }).filter(({ id }) => isIn(before, id) || isIn(after, id))
  const former = before !== null && mayTakeBack(before) ? before : undefined
  return (
    <li class={styles.change}>
      <div class={page.head}>
        <span>
          <strong>{texts.actions[action]}</strong>
          <span class={page.quiet}>
            {' · '}
            <Actor actor={change.actor} /> · <time dateTime={at}>{time}</time>
          </span>
        </span>
        {former && (
          <Button isSmall aria-label={texts.takeBackOf(time)} onClick={() => onTakeBack(former)}>
            {texts.takeBack}
          </Button>
        )}
      </div>
      {before === null && after === null && <p class={page.quiet}>{texts.tooLarge}</p>}
      <dl class={styles.fields}>
        {columns.map((column) => {
          const relation = model.toOne.find(({ by }) => by.length === 1 && by[0] === column.id)
          return (
            <div key={column.id}>
              <dt>
                <bdi>{relation && column.title === column.id ? relation.title : column.title}</bdi>
              </dt>
              <dd>
                <Values workspace={workspace} column={column} relation={relation} change={change} />
              </dd>
            </div>
          )
        })}
      </dl>
    </li>
  )
}

const isIn = (state: Row | null, name: string) => state !== null && ownOf(state, name) !== undefined

type ValuesProps = {
  readonly workspace: string
  readonly column: Column
  /** Where it refers by this field. */
  readonly relation: ToOne | undefined
  readonly change: Change
}

/** As a cell shows them; only one of what was created or deleted. */
function Values({ workspace, column, relation, change: { before, after } }: ValuesProps) {
  const shown = (row: Row) => (
    <>
      {relation && <Called workspace={workspace} collection={relation.to} itemKey={row[column.id]} />}
      {row[column.id] === '' ? (
        <PlainValue value="" />
      ) : (
        <CellContent workspace={workspace} column={column} row={row} />
      )}
    </>
  )
  return (
    <>
      {before && <del dir="auto">{shown(before)}</del>}
      {before && after && (
        <>
          <span class={styles.arrow} aria-hidden="true" />
          <Unseen>{t.value.item.history.becomes}</Unseen>
        </>
      )}
      {after && <ins dir="auto">{shown(after)}</ins>}
    </>
  )
}

type CalledProps = { readonly workspace: string; readonly collection: string; readonly itemKey: unknown }

/** What the item is called by now that a value refers to; nothing of one that is gone. */
function Called({ workspace, collection, itemKey }: CalledProps) {
  const { data: model } = useQuery(modelQuery(workspace, collection))
  if (!model || itemKey === null || itemKey === undefined) return null
  return <Name workspace={workspace} model={model} itemKey={[textOf(itemKey)]} />
}

function Name(place: ItemPlace) {
  const { data } = useQuery({ ...itemQuery(place), staleTime: 60_000 })
  return data ? (
    <>
      <bdi>{nameOf(place.model, data)}</bdi>
      {' · '}
    </>
  ) : null
}

function Actor({ actor }: Pick<Change, 'actor'>) {
  const texts = t.value.item.history
  if (actor === null) return <>{texts.outside}</>
  if (actor === userId.value) return <>{texts.you}</>
  if (actor === 'anonymous') return <>{texts.anonymous}</>
  return <code>{actor}</code>
}
