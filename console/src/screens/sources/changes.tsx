/** What an import would make, change and take away, in words; what breaks by it stands apart. */
import { formatNumber, listed, t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import { type Imported, NOT_CHOSEN, type Operation, type Preview } from './data.ts'
import styles from './sources.module.css'

type Kind = 'create' | 'change' | 'delete'

/** `path` is a collection, or a field of one. */
export type Change = { readonly kind: Kind; readonly path: string }

/** By the names of what there is; a field without a name stands as its collection. */
export function changesOf(
  operations: readonly Operation[],
  imported: readonly Imported[],
  fields: ReadonlyMap<string, string> = new Map(),
): readonly Change[] {
  const made = operations.flatMap(({ kind, data }) =>
    kind === 'createCollection' ? [[data.id, data.apiName ?? data.dbName ?? ''] as const] : [],
  )
  const names = new Map<string | undefined, string>([
    ...imported.map(({ id, apiName }) => [id, apiName] as const),
    ...made,
  ])
  const changes = operations.flatMap(({ kind, data }): readonly Change[] => {
    if (kind === 'createNamespace' || kind === 'deleteNamespace') return []
    if (kind === 'updateCollection') {
      const collection = names.get(data.id) ?? ''
      return (data.operations ?? []).map((one) => {
        const field = one.data.apiName ?? fields.get(one.data.id ?? '') ?? one.data.dbName
        const isField = /Field$/.test(one.kind) && field !== undefined
        return isField
          ? { kind: kindOf(one.kind), path: `${collection}.${field}` }
          : { kind: 'change', path: collection }
      })
    }
    const first = data.data?.firstField
    const relation = first && [names.get(first.collectionId), first.apiName].filter(Boolean).join('.')
    const path = relation ?? data.apiName ?? names.get(data.id) ?? data.dbName ?? ''
    return path === '' ? [] : [{ kind: kindOf(kind), path }]
  })
  return [...new Map(changes.map((change) => [`${change.kind} ${change.path}`, change])).values()]
}

function kindOf(operation: string): Kind {
  if (operation.startsWith('create')) return 'create'
  return operation.startsWith('delete') ? 'delete' : 'change'
}

/** The collections that an import deletes. */
export function deletedBy(changes: readonly Change[]): readonly string[] {
  return changes.flatMap(({ kind, path }) => (kind === 'delete' && !path.includes('.') ? [path] : []))
}

/** What the button of an import says: also what it deletes. */
export function importLabel(changes: readonly Change[]): string {
  const { import: plain, importDeleting } = sourceTexts.value
  const [name, ...others] = deletedBy(changes)
  const count = others.length + 1
  return name === undefined ? plain : importDeleting(name, formatNumber(count), count)
}

/** What is taken from those who use the API. */
export function Taken({ breaking }: Pick<Preview, 'breaking'>) {
  if (breaking.length === 0) return null
  const { breaks, breakings } = sourceTexts.value
  const lines = breaking.map(({ collection, field, operation }) => [
    field ? `${collection}.${field}` : collection,
    breakings[operation] ?? operation,
  ])
  return (
    <>
      <Notice look="warning">{breaks}</Notice>
      <ul class={styles.lines} aria-label={breaks}>
        {[...new Map(lines.map((line) => [line.join(), line])).values()].map(([path, what]) => (
          <li key={`${path} ${what}`}>
            <code dir="ltr">{path}</code>: {what}
          </li>
        ))}
      </ul>
    </>
  )
}

type ChangesProps = {
  readonly preview: Preview
  readonly changes: readonly Change[]
  /** What is said where nothing changes. */
  readonly none: string
}

/** So many are drawn. */
const SHOWN = 200

export function Changes({ preview: { operations, breaking, policies, skipped }, changes, none }: ChangesProps) {
  const texts = sourceTexts.value
  const rest = changes.length - SHOWN
  const named = policies.flatMap(({ name }) => name ?? [])
  const left = skipped.filter(({ reason }) => reason !== NOT_CHOSEN)
  return (
    <>
      <Taken breaking={breaking} />
      <p class={page.quiet}>{operations.length === 0 ? none : texts.wouldChange}</p>
      {changes.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well
        <section class={styles.changes} tabIndex={0} aria-label={texts.wouldChange}>
          <ul class={styles.lines}>
            {changes.slice(0, SHOWN).map(({ kind, path }) => (
              <li key={`${kind} ${path}`}>
                <span class={kind === 'delete' ? page.wrong : page.quiet}>{texts.kinds[kind]}</span>{' '}
                <code dir="ltr">{path}</code>
              </li>
            ))}
            {rest > 0 && <li class={page.quiet}>{texts.andMore(formatNumber(rest), rest)}</li>}
          </ul>
        </section>
      )}
      {policies.length > 0 && (
        <Notice look="warning">{named.length > 0 ? texts.breaksPolicies(listed(named)) : texts.unnamedPolicies}</Notice>
      )}
      {left.length > 0 && (
        <Table
          wraps
          label={t.value.connect.leftOutTitle}
          rows={left}
          keyOf={({ table, reason }) => `${table} ${reason}`}
          columns={[
            { title: t.value.connect.leftOutTitle, cell: ({ table }) => <bdi>{table}</bdi> },
            { title: t.value.many.why, cell: ({ reason }) => reason },
          ]}
        />
      )}
    </>
  )
}
