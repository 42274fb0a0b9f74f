/** The grid of a collection: its rows, sorted and filtered as the address says. */
import type { ServiceError } from 'governed-data-client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { CodeButton } from '../app/code.tsx'
import { lazy } from '../app/lazy.tsx'
import { address, itemPath, navigate, pathTo, returnedFrom } from '../app/router.ts'
import { explainFault } from '../messages/fault.ts'
import { formatNumber, t } from '../messages/messages.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Heading } from '../ui/heading.tsx'
import { Menu } from '../ui/menu.tsx'
import { Empty, Fault, Skeleton } from '../ui/notice.tsx'
import { showToast } from '../ui/toasts.tsx'
import { keyTextOf, useWhy, WhyRefused } from './access/asking.tsx'
import { listRequest } from './code/request.ts'
import { ChooseColumns } from './grid/choose-columns.tsx'
import { type Column, chosenOf, columnsOf, mayChange } from './grid/columns.ts'
import { ConflictDialog } from './grid/conflict.tsx'
import { useEditing } from './grid/editing.tsx'
import { useFiltering } from './grid/filtering.tsx'
import styles from './grid/grid.module.css'
import { asksItself, isSameLayout, type Layout, layoutsOf } from './grid/layouts.ts'
import { mayChangeSome, mayMark, useMany } from './grid/many.tsx'
import { createMarks, type Marks } from './grid/marks.ts'
import type { CollectionModel } from './grid/model.ts'
import type { Cell } from './grid/place.ts'
import { rememberColumns, rememberedColumns, rememberWidth, sized, widthsOf } from './grid/remembered-columns.ts'
import { searchOf, type View, viewOf } from './grid/request.ts'
import { createRows, keyOf, type Rows } from './grid/rows.ts'
import { Table } from './grid/table.tsx'
import { Unsaved } from './grid/unsaved.tsx'
import type { Row } from './grid/values.ts'
import { Views } from './grid/views.tsx'
import { WithModel } from './grid/with-model.tsx'
import page from './page.module.css'

/** What stands in the place of the table. */
const layouts = {
  calendar: lazy(() => import('./calendar.tsx')),
  gallery: lazy(() => import('./item-gallery.tsx')),
  summary: lazy(() => import('./summary.tsx')),
}

type GridProps = { readonly workspace: string; readonly collection: string }

export default function Grid({ workspace, collection }: GridProps) {
  return (
    <WithModel workspace={workspace} collection={collection} look={styles.page}>
      {(model) => <GridOf workspace={workspace} model={model} />}
    </WithModel>
  )
}

function GridOf({ workspace, model }: { readonly workspace: string; readonly model: CollectionModel }) {
  const { search } = address.value
  const view = useView(model, search)
  const rows = useMemo(() => createRows(workspace, model, view), [workspace, model, view])
  const marks = useMemo(() => createMarks(model, rows), [model, rows])
  const { layout } = view
  const Shown = layout && layouts[layout.kind]
  useEffect(() => {
    if (!asksItself(layout)) void rows.loadMore()
    return () => rows.close()
  }, [rows])
  const [isChoosing, setChoosing] = useState(false)
  const all = useColumns(model)
  const columns = useMemo(() => chosenOf(all, view.columns), [all, view])
  const place = useRef<Cell>(FIRST)
  const ask = useWhy(workspace)
  const onWhy = ask && (() => navigate(ask(questionAt(model, place.current, rows.rows.value ?? [], columns))))
  const { menu, chosen, dialog } = useMany({ workspace, model, view, rows, marks, all, columns, onWhy })
  const go = (to: View) => navigate(address.value.pathname + searchOf(to), 'replace')
  const filtering = useFiltering(model, view, go)
  /** The header that the rows of such a view were sorted by, which keeps the focus. */
  const sorted = useRef<Start | undefined>(undefined)
  const texts = t.value.grid
  const mayFilter = all.some(({ field }) => field.operators.length > 0)
  return (
    <>
      <div class={styles.bar}>
        <Heading text={model.title} />
        <Count rows={rows} />
        {!mayChangeSome(model) && !model.mayCreate && !model.mayDelete && (
          <p class={page.quiet}>{texts.readOnlyRows}</p>
        )}
        <span class={styles.tools}>
          <Views workspace={workspace} model={model} view={view} onView={go} />
          <Layouts model={model} layout={layout} onLayout={(chosen) => go({ ...view, layout: chosen })} />
          {!layout && (
            <Button tool="columns" aria-haspopup="dialog" onClick={() => setChoosing(true)}>
              {texts.columns}
            </Button>
          )}
          {mayFilter && filtering.button}
          {!asksItself(layout) && <CodeButton request={() => listRequest(workspace, model, view)} />}
          {menu}
          {model.mayCreate && (
            <ButtonLink tool="add" look="primary" href={pathTo(workspace, 'new', model.name)}>
              {t.value.item.create}
            </ButtonLink>
          )}
        </span>
      </div>
      {mayFilter && filtering.panel}
      {chosen}
      {dialog}
      {Shown && layout ? (
        <Shown workspace={workspace} model={model} view={view} rows={rows} layout={layout} onView={go} />
      ) : (
        <Body
          key={searchOf(view)}
          workspace={workspace}
          model={model}
          columns={columns}
          rows={rows}
          marks={mayMark(model) ? marks : undefined}
          view={view}
          onPlace={(cell) => {
            place.current = cell
          }}
          start={sorted.current?.search === searchOf(view) ? sorted.current.cell : undefined}
          onSort={(column) => {
            const to = { ...view, sort: nextSort(view, column) }
            sorted.current = {
              search: searchOf(to),
              cell: { row: -1, column: columns.findIndex(({ id }) => id === column.id) + 1 },
            }
            go(to)
          }}
        />
      )}
      {isChoosing && (
        <ChooseColumns
          all={all}
          shown={columns}
          onClose={() => setChoosing(false)}
          onChoose={(chosen) => {
            setChoosing(false)
            if (view.saved === undefined) rememberColumns(model, chosen)
            go({ ...view, columns: chosen?.map(({ id }) => id) })
          }}
        />
      )}
    </>
  )
}

type LayoutsProps = {
  readonly model: CollectionModel
  readonly layout: Layout | undefined
  readonly onLayout: (layout: Layout | undefined) => void
}

const layoutIcons = { calendar: 'calendar', gallery: 'file', summary: 'summary' } as const

/** As a table, or as whatever its fields allow. */
function Layouts({ model, layout, onLayout }: LayoutsProps) {
  const texts = t.value.layouts
  const offered = layoutsOf(model)
  if (offered.length === 0) return null
  const choices = [
    { label: texts.table, to: undefined },
    ...offered.map(({ kind, field, title }) => ({ label: texts[kind](title), to: { kind, field } })),
  ]
  const isChosen = (to: Layout | undefined) => isSameLayout(to, layout)
  const now = choices.find(({ to }) => isChosen(to))?.label ?? texts.table
  return (
    <Menu
      label={texts.label(now)}
      look="button"
      tool={layout ? layoutIcons[layout.kind] : 'collection'}
      items={choices.map(({ label, to }) => {
        const isNow = isChosen(to)
        return { kind: 'choice' as const, label, isChosen: isNow, onSelect: () => onLayout(isNow ? layout : to) }
      })}
    >
      <span dir="auto">{now}</span>
    </Menu>
  )
}

/** As the address says; where neither it nor a saved view has columns, with those that were chosen last. */
function useView(model: CollectionModel, search: string): View {
  const remembered = rememberedColumns(model, columnsOf(model))
  return useMemo(() => {
    const requestedView = viewOf(new URLSearchParams(search))
    const isOffered = layoutsOf(model).some((one) => isSameLayout(one, requestedView.layout))
    const view = isOffered ? requestedView : { ...requestedView, layout: undefined }
    const isOpen = view.columns === undefined && view.saved === undefined
    return isOpen ? { ...view, columns: remembered } : view
  }, [search, remembered?.join()])
}

function useColumns(model: CollectionModel): readonly Column[] {
  const own = widthsOf(model)
  return useMemo(() => sized(columnsOf(model), own), [model, JSON.stringify(own)])
}

function nextSort({ sort }: View, { path }: Column): View['sort'] {
  if (sort?.path.join('.') !== path.join('.')) return { path, direction: 'asc' }
  return sort.direction === 'asc' ? { path, direction: 'desc' } : undefined
}

function Count({ rows }: { readonly rows: Rows }) {
  const total = rows.total.value
  const texts = t.value.grid
  const [isBusy, setBusy] = useState(false)
  if (rows.rows.value === undefined) return null
  const count = async () => {
    setBusy(true)
    await rows.count().catch((error: ServiceError) => showToast(explainFault(error), 'danger'))
    setBusy(false)
  }
  return (
    <>
      <p class={page.quiet} role="status">
        {total && texts[total.isExact ? 'count' : 'estimate'](formatNumber(total.count), total.count)}
      </p>
      {!total?.isExact && !rows.isEnd() && (
        <Button look="plain" isSmall isBusy={isBusy} onClick={() => void count()}>
          {texts.countExactly}
        </Button>
      )}
    </>
  )
}

const FIRST: Cell = { row: 0, column: 1 }

type Start = { readonly search: string; readonly cell: Cell }

/** About a cell, or a row by its number: why it may not be changed, or else is seen. */
function questionAt(model: CollectionModel, { row, column }: Cell, rows: readonly Row[], columns: readonly Column[]) {
  const [item, shown] = [rows[row], columns[column - 1]]
  const hasKey = item !== undefined && model.key.length > 0
  return {
    collection: model.name,
    action: shown === undefined || mayChange(shown) ? 'read' : 'update',
    ...(shown?.path[0] !== undefined && { field: shown.path[0] }),
    ...(hasKey && { key: keyTextOf(model.key, keyOf(model, item)) }),
  } as const
}

/** By address, where one was in its grid last. */
const cells = new Map<string, Cell>()

/** The cell of the row that somebody comes back from, once that is there; undefined for whoever comes otherwise. */
async function comeBack(rows: Rows, hrefOf: (row: Row) => string | undefined): Promise<Cell | undefined> {
  const [href, left] = [returnedFrom(), cells.get(address.value.href)]
  if (href === undefined || left === undefined) return undefined
  await rows.loadUpTo(left.row + 1)
  const row = rows.rows.value?.findIndex((one) => hrefOf(one) === href) ?? -1
  return row === -1 ? undefined : { row, column: left.column }
}

type BodyProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly columns: readonly Column[]
  readonly rows: Rows
  readonly marks: Marks | undefined
  readonly view: View
  /** The cell that has the focus once rows are there; undefined where nothing in the grid had it. */
  readonly start: Cell | undefined
  /** Where the active cell is. */
  readonly onPlace: (cell: Cell) => void
  readonly onSort: (column: Column) => void
}

function Body({ workspace, model, columns, rows, marks, view, start, onPlace, onSort }: BodyProps) {
  const texts = t.value.grid
  const [{ active, anchor }, setPlace] = useState<{ readonly active: Cell; readonly anchor: Cell }>({
    active: start ?? FIRST,
    anchor: start ?? FIRST,
  })
  const [takesFocus, setTakesFocus] = useState(start !== undefined)
  const move = (to: Cell, from = to) => setPlace({ active: to, anchor: from })
  const hrefOf = (row: Row) => (model.key.length === 0 ? undefined : itemPath(workspace, model.name, keyOf(model, row)))
  useEffect(
    () =>
      void comeBack(rows, hrefOf).then((cell) => {
        if (cell === undefined) return
        move(cell)
        setTakesFocus(true)
      }),
    [],
  )
  useEffect(() => {
    cells.set(address.value.href, active)
    onPlace(active)
  }, [active])
  const { saving, edit, paste, fill, mayFill, over, picker } = useEditing({
    workspace,
    model,
    columns,
    rows,
    active,
    anchor,
    onMove: move,
    onOpen: (row) => {
      const href = hrefOf(row)
      if (href !== undefined) navigate(href)
    },
  })
  const shown = rows.rows.value
  const error = rows.error.value
  const unsaved = (
    <>
      <Unsaved workspace={workspace} model={model} saving={saving} />
      <ConflictDialog model={model} saving={saving} />
      {picker}
    </>
  )
  if (shown === undefined || shown.length === 0) {
    const text = view.filter !== undefined ? texts.noneFiltered : model.mayCreate ? texts.noneYet : undefined
    return (
      <>
        {unsaved}
        {error && !shown && (
          <Fault error={error} onRetry={() => void rows.loadMore()}>
            <WhyRefused workspace={workspace} error={error} question={{ collection: model.name, action: 'read' }} />
          </Fault>
        )}
        {!error && !shown && <Skeleton lines={10} />}
        {shown && (
          <Empty title={texts.none} {...(text !== undefined && { text })}>
            {view.filter === undefined && model.mayCreate && (
              <ButtonLink look="primary" href={pathTo(workspace, 'new', model.name)}>
                {texts.addFirst}
              </ButtonLink>
            )}
          </Empty>
        )}
      </>
    )
  }
  const toLast = async (from: Cell | undefined) => {
    await rows.loadUpTo(Number.POSITIVE_INFINITY)
    const last = { row: (rows.rows.value?.length ?? 1) - 1, column: active.column }
    setPlace({ active: last, anchor: from ?? last })
  }
  return (
    <>
      {unsaved}
      <Table
        workspace={workspace}
        label={model.title}
        columns={columns}
        rows={shown}
        hrefOf={hrefOf}
        isEnd={rows.isEnd()}
        sort={view.sort}
        active={active}
        anchor={anchor}
        onMove={move}
        onSort={onSort}
        onSize={(column, width) => rememberWidth(model, column, width)}
        onReach={(row) => {
          if (row > shown.length - 60 && error === undefined) void rows.loadMore()
        }}
        onLast={(from) => void toLast(from)}
        onEdit={edit}
        onPaste={paste}
        onFill={fill}
        mayFill={mayFill}
        over={over}
        marks={marks}
        takesFocus={takesFocus}
      />
      {error && <Fault error={error} onRetry={() => void rows.loadMore()} />}
      {rows.isFull() && <p class={page.quiet}>{texts.full(formatNumber(shown.length), shown.length)}</p>}
    </>
  )
}
