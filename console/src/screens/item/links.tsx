/** The items behind a junction, as a list of links: each can be taken away, and others added. Saved with the form around them. */
import { useState } from 'preact/hooks'
import { itemPath, pathTo } from '../../app/router.ts'
import { clientOf } from '../../data/client.ts'
import { FILES } from '../../data/files.ts'
import { type Query, useQuery } from '../../data/queries.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Fault, Skeleton } from '../../ui/notice.tsx'
import { FileField } from '../files/field.tsx'
import { FileMark } from '../files/mark.tsx'
import { type CollectionModel, calledBy, type Linked, type ToMany } from '../grid/model.ts'
import { Picker } from '../grid/picker.tsx'
import { searchOf } from '../grid/request.ts'
import { keyOf } from '../grid/rows.ts'
import { ownOf, type Row, textOf } from '../grid/values.ts'
import page from '../page.module.css'
import styles from './item.module.css'
import { has, type LinkDraft, type LinkDrafts, type LinkedItem, withDraft } from './link-drafts.ts'
import { filterFor } from './related.tsx'

/** So many are shown; the others are rows of their collection. */
const SHOWN = 50

const nothing: LinkDraft = { added: [], removed: [] }

export type LinksProps = {
  readonly workspace: string
  readonly model: CollectionModel
  /** Undefined for an item that is not there yet. */
  readonly row: Row | undefined
  readonly drafts: LinkDrafts
  readonly onChange: (relation: ToMany, change: 'added' | 'removed', item: LinkedItem) => void
}

export type LinkedRelation = ToMany & { readonly linked: Linked }

/** Relations that are shown as such lists. */
export function linkedRelations({ toMany }: CollectionModel): readonly LinkedRelation[] {
  return toMany.flatMap((relation) => {
    const linked = relation.linked ?? relation.attached
    return linked === undefined ? [] : [{ ...relation, linked }]
  })
}

export function Links({ workspace, model, row, drafts, onChange }: LinksProps) {
  const shown = linkedRelations(model).filter(({ linked }) => row !== undefined || linked.mayAddToNew)
  return (
    <>
      {shown.map((relation) => (
        <List
          key={relation.name}
          workspace={workspace}
          model={model}
          row={row}
          relation={relation}
          draft={ownOf(drafts, relation.name) ?? nothing}
          onChange={(change, item) => onChange(relation, change, item)}
        />
      ))}
    </>
  )
}

/** One more than is shown. */
export function linkedQuery(
  workspace: string,
  model: CollectionModel,
  relation: LinkedRelation,
  row: Row | undefined,
): Query<readonly LinkedItem[]> {
  const { key, display, over } = relation.linked
  const within = over ? `${over.relation}.` : ''
  const sorted = { [display.name]: { direction: 'asc' } }
  const named = (other: Row) => (over ? ((ownOf(other, over.relation) ?? {}) as Row) : other)
  type Answer = { readonly data: readonly Row[] }
  const ask = (query: object) =>
    clientOf(workspace).$request<Answer>('GET', `items/${encodeURIComponent(relation.to)}`, { query })
  return {
    queryKey: ['linked', workspace, model.name, relation.name, row && keyOf(model, row)],
    enabled: row !== undefined,
    staleTime: 0,
    queryFn: async () => {
      const query = {
        filter: row && filterFor(relation, row),
        fields: [...new Set([...(over?.by ?? key), ...display.shows.map((name) => within + name)])].join(),
        limit: SHOWN + 1,
      }
      const inOrder = await ask({ ...query, sort: [over ? { [over.relation]: sorted } : sorted] })
      // Behind another data source nothing is sorted by (docs/errors.md, 4010).
      const answer = !inOrder.ok && inOrder.error.code === '4010' ? await ask(query) : inOrder
      if (!answer.ok) throw answer.error
      return answer.data.data.map((other) => {
        const parts = (over?.by ?? key).map((part) => other[part])
        const { mediaType } = named(other)
        const label = calledBy(display, named(other)) || parts.map(textOf).join(', ')
        return { key: parts, label, ...(typeof mediaType === 'string' && { mediaType }) }
      })
    },
  }
}

type ListProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly row: Row | undefined
  readonly relation: LinkedRelation
  readonly draft: LinkDraft
  readonly onChange: (change: 'added' | 'removed', item: LinkedItem) => void
}

function List({ workspace, model, row, relation, draft, onChange }: ListProps) {
  const texts = t.value.item
  const [isPicking, setPicking] = useState(false)
  const { data: stored, error, refetch } = useQuery(linkedQuery(workspace, model, relation, row))
  const { title, linked } = relation
  const items = withDraft((stored ?? []).slice(0, SHOWN), draft)
  const mayAdd = row === undefined ? linked.mayAddToNew : linked.mayAdd
  const isOpen = row === undefined || stored !== undefined
  const add = (
    <Button aria-haspopup="dialog" onClick={() => setPicking(true)}>
      <Icon name="add" />
      {texts.link(title)}
    </Button>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: the form has no fieldsets, whose legends break its two columns
    <div class={styles.field} role="group" aria-label={title}>
      <div class={styles.label}>
        <span dir="auto">{title}</span>
        <span class={page.quiet}>{linked.to === FILES ? t.value.files.title : linked.to}</span>
      </div>
      <div class={styles.value}>
        {error && !stored && <Fault error={error} onRetry={() => void refetch()} />}
        {!isOpen && !error && <Skeleton lines={1} />}
        {items.length > 0 && (
          <ul class={styles.links}>
            {items.map((item) => (
              <li key={JSON.stringify(item.key)} class={has(draft.added, item) ? styles.added : undefined}>
                <a href={itemPath(workspace, linked.to, item.key)} dir="auto">
                  {linked.to === FILES && (
                    <FileMark workspace={workspace} id={textOf(item.key[0])} mediaType={item.mediaType} look="cell" />
                  )}
                  {item.label}
                </a>
                {(linked.mayRemove || has(draft.added, item)) && (
                  <Button
                    look="plain"
                    isIcon
                    aria-label={texts.unlink(item.label)}
                    onClick={() => onChange('removed', item)}
                  >
                    <Icon name="close" />
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
        {isOpen && items.length === 0 && <p class={page.quiet}>{texts.noLinks}</p>}
        {row && stored && stored.length > SHOWN && (
          <a
            href={`${pathTo(workspace, 'items', relation.to)}${searchOf({ sort: undefined, filter: filterFor(relation, row) })}`}
          >
            {texts.allLinks}
          </a>
        )}
        {mayAdd &&
          isOpen &&
          (linked.to === FILES ? (
            <FileField
              workspace={workspace}
              title={title}
              id={null}
              isMany
              onFile={({ id, fileName, mediaType }) => onChange('added', { key: [id], label: fileName, mediaType })}
            >
              {add}
            </FileField>
          ) : (
            <span>{add}</span>
          ))}
      </div>
      {isPicking && (
        <Picker
          workspace={workspace}
          relation={{ title, ...linked }}
          {...(linked.among && { among: linked.among })}
          isNullable={false}
          onClose={() => setPicking(false)}
          onPick={({ key, label }) => {
            setPicking(false)
            const item = { key, label: label || key.map(textOf).join(', ') }
            if (!has(items, item)) onChange('added', item)
          }}
        />
      )}
    </div>
  )
}
