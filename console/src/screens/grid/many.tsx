/** What can be done to many rows of a grid: a menu for all of its view, and a bar for those that are chosen. */
import { useMemo, useRef, useState } from 'preact/hooks'
import { lazy } from '../../app/lazy.tsx'
import { useCommands } from '../../app/palette.tsx'
import { userId } from '../../data/session.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import type { Column } from './columns.ts'
import { redoIn, undoIn } from './editing.tsx'
import styles from './grid.module.css'
import type { Marks } from './marks.ts'
import type { CollectionModel } from './model.ts'
import type { View } from './request.ts'
import type { Rows } from './rows.ts'
import { type Saving, savingOf } from './saving.ts'

const BulkDialog = lazy(() => import('../bulk.tsx'))
const ExportDialog = lazy(() => import('../export.tsx'))
const ImportDialog = lazy(() => import('../import.tsx'))

type ManyProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly rows: Rows
  readonly marks: Marks
  readonly all: readonly Column[]
  readonly columns: readonly Column[]
  /** Asks why the active cell is as it is; absent where the caller may not ask. */
  readonly onWhy: (() => void) | undefined
}

type Bulk = { readonly kind: 'change' | 'delete'; readonly which: 'chosen' | 'all' }
type Doing = Bulk | { readonly kind: 'export' } | { readonly kind: 'import' }

/** Whether the caller may change any field of its rows that they see. */
export const mayChangeSome = ({ fields }: CollectionModel) => fields.some(({ mayUpdate }) => mayUpdate)

const mayCreateSome = (model: CollectionModel) => model.mayCreate && model.fields.some(({ mayCreate }) => mayCreate)

/** Whether rows are chosen at all. */
export function mayMark(model: CollectionModel): boolean {
  return model.key.length > 0 && model.takesBatches && (mayChangeSome(model) || model.mayDelete)
}

/** `menu` goes into the bar of tools, `chosen` above the rows. */
export function useMany(props: ManyProps) {
  const { workspace, model, view, rows, marks, onWhy } = props
  const [doing, setDoing] = useState<Doing | undefined>(undefined)
  const messages = t.value
  const isFiltered = Object.keys(view.filter ?? {}).length > 0
  const latest = useRef(onWhy)
  latest.current = onWhy
  const mayAsk = onWhy !== undefined
  const actions = useMemo(
    () => [
      ...(mayChangeSome(model) ? waysBack(() => savingOf(userId.value, workspace, model, rows)) : []),
      ...actionsOf(model, isFiltered, setDoing),
      ...(mayAsk ? [{ id: 'why', label: messages.item.whyCell, run: () => latest.current?.() }] : []),
      ...(model.mayDeleteMany ? [deletionOf(isFiltered, setDoing)] : []),
    ],
    [workspace, model, rows, isFiltered, mayAsk, messages],
  )
  useCommands(useMemo(() => actions.map((action) => ({ ...action, group: messages.palette.actions })), [actions]))
  const onClose = () => setDoing(undefined)
  const dialogOf = (now: Doing) => {
    if (now.kind === 'export') return <ExportDialog {...props} onClose={onClose} />
    if (now.kind === 'import') return <ImportDialog {...props} onClose={onClose} />
    return <BulkDialog key={JSON.stringify(now)} {...props} {...now} onClose={onClose} />
  }
  const dialog = doing && dialogOf(doing)
  const menu = <Menu label={messages.many.menu} look="button" tool="more" items={actions.flatMap(itemsOf)} />
  const chosen = <Chosen model={model} marks={marks} onDo={(kind) => setDoing({ kind, which: 'chosen' })} />
  return { menu, chosen, dialog }
}

type Action = { readonly id: string; readonly label: string; readonly run: () => void }

function itemsOf({ id, label, run }: Action): readonly MenuItem[] {
  if (id === 'delete') return [{ kind: 'line' }, { kind: 'deletion', label, onSelect: run }]
  return [{ kind: 'action', label, onSelect: run }]
}

/** For whoever has no keys for them. */
function waysBack(saving: () => Saving): readonly Action[] {
  const texts = t.value.many
  return [
    { id: 'undo', label: texts.undo, run: () => undoIn(saving()) },
    { id: 'redo', label: texts.redo, run: () => redoIn(saving()) },
  ]
}

function actionsOf(model: CollectionModel, isFiltered: boolean, onDo: (doing: Doing) => void): readonly Action[] {
  const texts = t.value.many
  const change: Action = {
    id: 'change',
    label: isFiltered ? texts.changeFound : texts.changeAll,
    run: () => onDo({ kind: 'change', which: 'all' }),
  }
  return [
    { id: 'export', label: texts.export, run: () => onDo({ kind: 'export' }) },
    ...(mayCreateSome(model)
      ? [{ id: 'import', label: texts.import, run: () => onDo({ kind: 'import' as const }) }]
      : []),
    ...(model.mayUpdateMany && mayChangeSome(model) ? [change] : []),
  ]
}

function deletionOf(isFiltered: boolean, onDo: (doing: Doing) => void): Action {
  const texts = t.value.many
  return {
    id: 'delete',
    label: isFiltered ? texts.deleteFound : texts.deleteAll,
    run: () => onDo({ kind: 'delete', which: 'all' }),
  }
}

type ChosenProps = {
  readonly model: CollectionModel
  readonly marks: Marks
  readonly onDo: (kind: Bulk['kind']) => void
}

function Chosen({ model, marks, onDo }: ChosenProps) {
  const texts = t.value.many
  const { size } = marks.keys.value
  // The element that announces it is there before there is something to tell.
  return (
    <div class={styles.chosen} hidden={size === 0}>
      <p role="status">{size > 0 && texts.chosen(formatNumber(size), size)}</p>
      {size > 0 && (
        <span class={styles.tools}>
          {mayChangeSome(model) && (
            <Button aria-haspopup="dialog" onClick={() => onDo('change')}>
              {texts.change}
            </Button>
          )}
          {model.mayDelete && (
            <Button look="risky" aria-haspopup="dialog" onClick={() => onDo('delete')}>
              {texts.delete}
            </Button>
          )}
          <Button look="plain" onClick={marks.clear}>
            {texts.clear}
          </Button>
        </span>
      )}
    </div>
  )
}
