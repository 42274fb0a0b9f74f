/** Saved views of a collection: chosen, saved for oneself, a role or everybody, changed and deleted. */
import type { ServiceError } from 'governed-data-client'
import { useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { type Query, queries, useQuery } from '../../data/queries.ts'
import { userId } from '../../data/session.ts'
import { explainFault } from '../../messages/fault.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { Fault } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import type { CollectionModel } from './model.ts'
import { savedLayout, savedQuery, type View, viewIn } from './request.ts'
import { SaveView } from './save-view.tsx'
import { isSame } from './values.ts'

export type SavedView = {
  readonly id: string
  readonly name: string
  readonly query: object
  readonly layout: { readonly [member: string]: unknown } | null
  /** Whose alone it is; where there is neither of the two, it is everybody's. */
  readonly userId: string | null
  readonly roleId: string | null
  readonly _etag: string
}

const path = 'items/ServiceView'

function viewsQuery(workspace: string, { id }: CollectionModel): Query<readonly SavedView[]> {
  return {
    queryKey: ['views', workspace, id],
    enabled: id !== '',
    queryFn: async () => {
      const query = {
        fields: 'id,name,query,layout,userId,roleId,_etag',
        filter: { collectionId: { _eq: id } },
        sort: [{ name: { direction: 'asc' } }],
        limit: 0,
      }
      const answer = await clientOf(workspace).$request<{ readonly data: readonly SavedView[] }>('GET', path, { query })
      if (!answer.ok && answer.status === 403) return []
      return answer.orThrow().data
    },
  }
}

type ViewsProps = {
  readonly workspace: string
  readonly model: CollectionModel
  readonly view: View
  readonly onView: (view: View) => void
}

export function Views({ workspace, model, view, onView }: ViewsProps) {
  const { data: all = [] } = useQuery(viewsQuery(workspace, model))
  const [open, setOpen] = useState<'save' | 'delete' | undefined>(undefined)
  if (model.id === '') return null
  const chosen = all.find(({ id }) => id === view.saved)
  const reload = () => queries.invalidateQueries({ queryKey: viewsQuery(workspace, model).queryKey as string[] })
  const shown = { workspace, model, view, all, chosen, onView, reload, onOpen: setOpen }
  return (
    <>
      <ViewsMenu {...shown} />
      {open === 'save' && (
        <SaveView
          workspace={workspace}
          model={model}
          view={view}
          onClose={() => setOpen(undefined)}
          onSaved={async (saved) => {
            // The menu has the view before it can be opened: nothing in it moves under the pointer.
            await reload()
            onView({ ...view, saved })
            setOpen(undefined)
          }}
        />
      )}
      {open === 'delete' && chosen && (
        <DeleteView
          workspace={workspace}
          saved={chosen}
          onClose={() => setOpen(undefined)}
          onDeleted={() => {
            setOpen(undefined)
            void reload()
            onView({ ...view, saved: undefined })
          }}
        />
      )}
    </>
  )
}

type ViewsMenuProps = ViewsProps & {
  readonly all: readonly SavedView[]
  readonly chosen: SavedView | undefined
  readonly reload: () => Promise<void>
  readonly onOpen: (dialog: 'save' | 'delete') => void
}

function ViewsMenu(props: ViewsMenuProps) {
  const { view, chosen } = props
  const texts = t.value.views
  const hasChanged = chosen !== undefined && !isSame(savedIn(viewIn(chosen.query, chosen.layout)), savedIn(view))
  const items = [...choicesIn(props), { kind: 'line' } as const, ...actionsIn(props, hasChanged)]
  return (
    <Menu label={chosen ? texts.chosen(chosen.name) : texts.label} items={items} look="button" tool="eye">
      <span dir="auto">{chosen ? chosen.name : texts.label}</span>
      {hasChanged && <span title={texts.changed}>•</span>}
    </Menu>
  )
}

/** What a saved view keeps of what is shown. */
const savedIn = (view: View) => ({ query: savedQuery(view), layout: savedLayout(view) })

/** All rows, then one's own views, then those of others. */
function choicesIn({ all, chosen, view, onView }: ViewsMenuProps): readonly MenuItem[] {
  const texts = t.value.views
  const choiceOf = (one: SavedView): MenuItem => ({
    kind: 'choice',
    label: one.name,
    isChosen: one.id === chosen?.id,
    onSelect: () => onView({ ...viewIn(one.query, one.layout), saved: one.id }),
  })
  const groupOf = (label: string, views: readonly SavedView[]): readonly MenuItem[] =>
    views.length === 0 ? [] : [{ kind: 'title', label }, ...views.map(choiceOf)]
  const isAll = isSame(savedQuery(view), {}) && view.layout === undefined
  return [
    { kind: 'choice', label: texts.all, isChosen: isAll, onSelect: () => onView(viewIn({})) },
    ...groupOf(
      texts.mine,
      all.filter((one) => one.userId !== null),
    ),
    ...groupOf(
      texts.shared,
      all.filter((one) => one.userId === null),
    ),
  ]
}

function actionsIn(props: ViewsMenuProps, hasChanged: boolean): readonly MenuItem[] {
  const { workspace, model, view, chosen, reload, onOpen } = props
  const texts = t.value.views
  const save: MenuItem = { kind: 'action', label: texts.save, onSelect: () => onOpen('save') }
  const isOwn = chosen?.userId === userId.value
  if (chosen === undefined || !(isOwn || (chosen.userId === null && model.mayShare))) return [save]
  const update = async () => {
    const options = { body: savedIn(view), ifMatch: chosen._etag }
    const answer = await clientOf(workspace).$request('PATCH', `${path}/${chosen.id}`, options)
    await reload()
    if (answer.ok) showToast(texts.saved)
    else showToast(explainFault(answer.error), 'danger')
  }
  const updating: MenuItem = { kind: 'action', label: texts.update(chosen.name), onSelect: () => void update() }
  const deleting: MenuItem = { kind: 'deletion', label: texts.delete(chosen.name), onSelect: () => onOpen('delete') }
  return [save, ...(hasChanged ? [updating] : []), { kind: 'line' }, deleting]
}

type DeleteViewProps = {
  readonly workspace: string
  readonly saved: SavedView
  readonly onClose: () => void
  readonly onDeleted: () => void
}

function DeleteView({ workspace, saved, onClose, onDeleted }: DeleteViewProps) {
  const texts = t.value.views
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const remove = async () => {
    const answer = await clientOf(workspace).$request('DELETE', `${path}/${saved.id}`)
    if (answer.ok || answer.status === 404) onDeleted()
    else setError(answer.error)
  }
  return (
    <Dialog title={texts.delete(saved.name)} onClose={onClose}>
      {error && <Fault error={error} />}
      <p>{saved.userId === null ? texts.deleteShared : texts.deleteMine}</p>
      <DialogActions>
        <Button onClick={onClose}>{t.value.common.cancel}</Button>
        <Button look="danger" onClick={() => void remove()}>
          {t.value.item.delete}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
