/** What refers to an item: a link to each, with how many there are. */
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { pathTo } from '../../app/router.ts'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import type { CollectionModel, ToMany } from '../grid/model.ts'
import { searchOf } from '../grid/request.ts'
import type { Row } from '../grid/values.ts'
import page from '../page.module.css'

type RelatedProps = { readonly workspace: string; readonly model: CollectionModel; readonly row: Row }

/** But for what the form shows as lists of links. */
export function Related({ workspace, model, row }: RelatedProps) {
  const shown = model.toMany.filter(({ linked, isJunction }) => linked === undefined && !isJunction)
  if (shown.length === 0) return null
  return (
    <section class={page.stack} aria-label={t.value.item.related}>
      <h2>{t.value.item.related}</h2>
      <RelatedList workspace={workspace} relations={shown} row={row} />
    </section>
  )
}

type RelatedListProps = Pick<RelatedProps, 'workspace' | 'row'> & {
  readonly relations: readonly ToMany[]
  /** Whether it stands there what becomes of them where the item is deleted. */
  readonly isDeletion?: boolean
  /** Whether something is seen to refer to the item by one of them. */
  readonly onSeen?: (name: string, isSome: boolean) => void
}

export function RelatedList({ workspace, relations, row, isDeletion = false, onSeen }: RelatedListProps) {
  const { onDelete } = t.value.item
  return (
    <ul class={`${page.panel} ${page.lines}`}>
      {relations.map((relation) => (
        <One key={relation.name} workspace={workspace} relation={relation} row={row} onSeen={onSeen}>
          {isDeletion && relation.onDelete && <span>{onDelete[relation.onDelete]}</span>}
        </One>
      ))}
    </ul>
  )
}

type OneProps = {
  readonly workspace: string
  readonly relation: ToMany
  readonly row: Row
  readonly onSeen: RelatedListProps['onSeen']
  readonly children: ComponentChildren
}
type Answer = { readonly data: readonly object[]; readonly meta?: { readonly totalEstimate?: number | null } }

/** So many are counted, and from there on it is about how many, where that is known. */
const COUNTED = 100

function One({ workspace, relation, row, onSeen, children }: OneProps) {
  const { name, to, title, links } = relation
  const filter = filterFor(relation, row)
  const { data: counted } = useQuery({
    queryKey: ['count', workspace, to, filter],
    staleTime: 0,
    queryFn: async () => {
      const query = { limit: COUNTED + 1, fields: links[0]?.path.join('.'), filter, meta: 'totalEstimate' }
      const answer = await clientOf(workspace).$request<Answer>('GET', `items/${encodeURIComponent(to)}`, { query })
      return answer.ok ? answer.data : null
    },
  })
  const isSome = (counted?.data.length ?? 0) > 0
  useEffect(() => onSeen?.(name, isSome), [isSome])
  return (
    <li>
      <a href={`${pathTo(workspace, 'items', to)}${searchOf({ sort: undefined, filter })}`} dir="auto">
        {title}
      </a>
      {counted && <span class={page.quiet}>{countText(counted)}</span>}
      {children}
    </li>
  )
}

function countText({ data, meta }: Answer): string {
  const texts = t.value.grid
  if (data.length <= COUNTED) return texts.count(formatNumber(data.length), data.length)
  const about = meta?.totalEstimate
  return typeof about === 'number' && about > COUNTED
    ? texts.estimate(formatNumber(about), about)
    : texts.more(formatNumber(COUNTED), COUNTED)
}

/** What is true of the items of a relation. */
export function filterFor({ links }: Pick<ToMany, 'links'>, row: Row): object {
  const conditions = links.map(({ path, own }) =>
    path.reduceRight<object>((below, name) => ({ [name]: below }), { _eq: row[own] }),
  )
  return conditions.length === 1 ? (conditions[0] as object) : { _and: conditions }
}
