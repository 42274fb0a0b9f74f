/** What an import would change of a source's collections, the choice of its tables, and the import itself. */
import { useState } from 'preact/hooks'
import { useQuery } from '../../data/queries.ts'
import { explainFault } from '../../messages/fault.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Notice } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Elapsed, useAsking } from '../connect-database/asking.tsx'
import { type FoundTable, Tables } from '../connect-database/tables.tsx'
import page from '../page.module.css'
import { Changes, changesOf, importLabel } from './changes.tsx'
import {
  fieldNamesQuery,
  type Imported,
  importedQuery,
  type OperationData,
  type Preview,
  type Source,
  sourcesChanged,
} from './data.ts'
import { ImportReview } from './import-review.tsx'
import { useLook } from './list.tsx'
import styles from './sources.module.css'
import { sourceTitle } from './title.ts'

type ImportProps = { readonly workspace: string; readonly source: Source }

/** A dry run, and the choice of tables that it is of; undefined for the choice that was made before. */
type Planned = { readonly preview: Preview; readonly include: readonly string[] | undefined }

type Choosing = { readonly tables: readonly FoundTable[]; readonly chosen: ReadonlySet<string> }

export function Import({ workspace, source }: ImportProps) {
  const texts = sourceTexts.value
  const { look, state } = useLook({ workspace, source })
  const { data: all = [] } = useQuery(importedQuery(workspace))
  const own = all.filter(({ sourceId }) => sourceId === source.id)
  const [planned, setPlanned] = useState<Planned>()
  const [choosing, setChoosing] = useState<Choosing>()
  const [reviewed, setReviewed] = useState<Planned & { readonly hasMoved?: true }>()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [busy, setBusy] = useState<'looking' | 'importing'>()
  const { ask, error, setError, stop } = useAsking(workspace)
  const [isStopped, setStopped] = useState(false)
  const path = `schema/introspect/${source.id}`
  const shown = planned ?? (look.data && { preview: look.data, include: undefined })
  const { data: fields } = useQuery({
    ...fieldNamesQuery(workspace, source.id),
    enabled: shown !== undefined && shown.preview.operations.length > 0,
  })
  const during = async <T,>(what: 'looking' | 'importing', work: () => Promise<T>) => {
    if (busy !== undefined) return
    setError(undefined)
    setStopped(false)
    setBusy(what)
    await work()
    setBusy(undefined)
  }
  const choose = () =>
    during('looking', async () => {
      const answer = await ask<{ readonly data: Preview }>(path, { tables: {} }, dryRun)
      if (!answer) return
      const tables = tablesOf(answer.data.data, own)
      const before = new Set(tablesOf(look.data, own).map(({ name }) => name))
      setChoosing({ tables, chosen: new Set(tables.flatMap(({ name }) => (before.has(name) ? [name] : []))) })
    })
  const plan = ({ tables, chosen }: Choosing) =>
    during('looking', async () => {
      const include = chosen.size === tables.length ? [] : [...chosen]
      const answer = await ask<{ readonly data: Preview }>(path, tablesBody(include), dryRun)
      if (!answer) return
      setPlanned({ preview: answer.data.data, include })
      setChoosing(undefined)
    })
  const run = ({ preview, include }: Planned) => {
    setReviewed(undefined)
    return during('importing', async () => {
      const renames = preview.renames.filter((one) => selected.has(keyOf(one))).map(({ from, to }) => ({ from, to }))
      const choice = include && tablesBody(include)
      const { plan } = preview
      const body = { ...choice, ...(renames.length > 0 && { renames }), ...(plan !== undefined && { plan }) }
      let hasMoved = false
      const answer = await ask<{ readonly data: Pick<Preview, 'operations'> }>(path, body, {}, (failed) => {
        hasMoved = failed.code === MOVED
        if (!hasMoved) setError(failed)
      })
      if (hasMoved) {
        const again = await ask<{ readonly data: Preview }>(path, { ...choice }, dryRun)
        if (again) setReviewed({ preview: again.data.data, include, hasMoved: true })
        void look.refetch()
      }
      if (!answer) return
      const count = answer.data.data.operations.length
      showToast(texts.imported(formatNumber(count), count))
      setPlanned(undefined)
      setSelected(new Set())
      await sourcesChanged(workspace)
    })
  }
  const uncertain = (shown?.preview.renames ?? []).filter(({ certain }) => !certain)
  // An import starts what can do other things than before; of all else that does not answer there is nothing to import.
  if (!shown && state.name !== 'off' && state.name !== 'looking') return null
  return (
    <section class={styles.part} aria-label={texts.changes}>
      <h2>{texts.changes}</h2>
      {error && <Notice look="danger">{explainFault(error)}</Notice>}
      {isStopped && <Notice look="warning">{texts.stopped}</Notice>}
      {busy && (
        <Notice
          action={
            <Button
              look="plain"
              onClick={() => {
                stop()
                setStopped(busy === 'importing')
              }}
            >
              {texts.stop}
            </Button>
          }
        >
          {texts[busy]} <progress aria-label={t.value.connect.progress} /> <Elapsed />
        </Notice>
      )}
      {choosing && (
        <>
          <p class={page.quiet}>{texts.chooseText}</p>
          <Tables
            tables={choosing.tables}
            chosen={choosing.chosen}
            isDisabled={busy !== undefined}
            onChoose={(chosen) => setChoosing({ ...choosing, chosen })}
          />
          <div class={page.row}>
            <Button onClick={() => setChoosing(undefined)}>{t.value.common.cancel}</Button>
            <Button
              look="primary"
              isBusy={busy === 'looking'}
              disabled={choosing.chosen.size === 0}
              onClick={() => void plan(choosing)}
            >
              {texts.showChanges}
            </Button>
          </div>
        </>
      )}
      {!choosing && shown && (
        <>
          <Changes
            preview={shown.preview}
            changes={changesOf(shown.preview.operations, own, fields)}
            none={shown.include === undefined ? texts.same : texts.sameChosen}
          />
          {uncertain.length > 0 && (
            <fieldset class={page.stack}>
              <legend>{texts.renames}</legend>
              {uncertain.map((rename) => (
                <Checkbox
                  key={keyOf(rename)}
                  label={texts.renameOf(rename.from, rename.to)}
                  isChecked={selected.has(keyOf(rename))}
                  onCheck={(isChecked) => {
                    const others = [...selected].filter((one) => one !== keyOf(rename))
                    setSelected(new Set(isChecked ? [...others, keyOf(rename)] : others))
                  }}
                />
              ))}
            </fieldset>
          )}
          <div class={page.row}>
            {planned && <Button onClick={() => setPlanned(undefined)}>{t.value.common.cancel}</Button>}
            <Button isBusy={busy === 'looking'} disabled={busy === 'importing'} onClick={() => void choose()}>
              {texts.choose}
            </Button>
            {(shown.preview.operations.length > 0 || planned) && (
              <Button
                look={shown.preview.breaking.length > 0 ? 'danger' : 'primary'}
                isBusy={busy === 'importing'}
                disabled={busy === 'looking'}
                onClick={() => setReviewed(shown)}
              >
                {importLabel(changesOf(shown.preview.operations, own, fields))}
              </Button>
            )}
          </div>
        </>
      )}
      {!choosing && !shown && state.name === 'off' && (
        <div class={page.row}>
          <Button isBusy={busy === 'importing'} onClick={() => void run({ preview: nothing, include: undefined })}>
            {texts.import}
          </Button>
        </div>
      )}
      {reviewed && (
        <ImportReview
          key={reviewed.preview.plan}
          name={sourceTitle(source)}
          preview={reviewed.preview}
          changes={changesOf(reviewed.preview.operations, own, fields)}
          renames={reviewed.preview.renames.filter((one) => selected.has(keyOf(one)))}
          hasMoved={reviewed.hasMoved === true}
          onConfirm={() => void run(reviewed)}
          onClose={() => setReviewed(undefined)}
        />
      )}
    </section>
  )
}

const dryRun = { dryRun: true }

/** The error of an import of something else than its dry run has told. */
const MOVED = '4094'

const nothing: Preview = { operations: [], renames: [], breaking: [], policies: [], skipped: [] }

const keyOf = ({ from, to }: { readonly from: string; readonly to: string }) => JSON.stringify([from, to])

/** None chosen means all of them. */
const tablesBody = (include: readonly string[]) => ({ tables: include.length === 0 ? {} : { include } })

/** Those that are imported and stay, and those that would be. */
function tablesOf(preview: Preview | undefined, own: readonly Imported[]): readonly FoundTable[] {
  const operations = preview?.operations ?? []
  const gone = new Set(operations.flatMap(({ kind, data }) => (kind === 'deleteCollection' ? [data.id] : [])))
  const known = own.flatMap(({ namespaceId, namespace }) => [[namespaceId ?? undefined, namespace?.dbName] as const])
  const namespaces = new Map([
    ...known,
    ...operations.flatMap(({ kind, data }) => (kind === 'createNamespace' ? [[data.id, data.dbName] as const] : [])),
  ])
  const nameOf = ({ dbName = '', namespaceId }: OperationData) => {
    const namespace = namespaces.get(namespaceId ?? undefined)
    return namespace === undefined ? dbName : `${namespace}.${dbName}`
  }
  const isField = ({ kind }: { readonly kind: string }) => kind === 'createPrimitiveField'
  return [
    ...own
      .filter(({ id }) => !gone.has(id))
      .map(({ namespace, dbName }) => ({ name: namespace ? `${namespace.dbName}.${dbName}` : dbName })),
    ...operations.flatMap(({ kind, data }) =>
      kind === 'createCollection'
        ? [{ name: nameOf(data), columns: (data.operations ?? []).filter(isField).length }]
        : [],
    ),
  ]
}
