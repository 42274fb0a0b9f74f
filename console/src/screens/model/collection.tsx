/** One collection: its fields, relations, indexes and how it is shown, its history, its name and its end. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { CodeButton } from '../../app/code.tsx'
import { navigate, pathTo } from '../../app/router.ts'
import { t } from '../../messages/messages.ts'
import { modelTexts } from '../../messages/model.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Heading } from '../../ui/heading.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Missing } from '../missing.tsx'
import page from '../page.module.css'
import { deleteCollection, makingOf, renameCollection, switchHistory, without } from './changes.ts'
import { addChange, changesOf, type Draft, modelRequest, type OfCollection, useTyped } from './data.ts'
import { Fields } from './fields.tsx'
import { Indexes } from './indexes.tsx'
import { Marks, placeOf } from './list.tsx'
import { DbName, NameField } from './name-fields.tsx'
import { Names } from './names.tsx'
import type { Collection } from './records.ts'
import { Relations } from './relations.tsx'

const sections = ['fields', 'relations', 'indexes', 'names'] as const
type Section = (typeof sections)[number]

type OneProps = Draft & { readonly name: string; readonly part: string | undefined }

export function OneCollection({ name, part = 'fields', ...draft }: OneProps) {
  const { workspace, model, changes, mayEdit } = draft
  const texts = modelTexts.value
  const current = sections.find((one) => one === part)
  const collection = model.collections.find(({ apiName, isSystem }) => apiName === name && !isSystem)
  if (collection === undefined || current === undefined) return <Missing workspace={workspace} />
  const { id, dbName, isReadOnly, isView } = collection
  const made = makingOf(changes, id)
  const of = { ...draft, collection, isNew: made !== undefined }
  return (
    <>
      <p class={page.quiet}>
        <a href={pathTo(workspace, 'model')}>{texts.toList}</a>
      </p>
      <div class={page.head}>
        <Heading text={name} called={[name, t.value.shell.model]} />
        <span class={page.row}>
          {made === undefined && <ButtonLink href={pathTo(workspace, 'items', name)}>{texts.rows}</ButtonLink>}
          <CodeButton request={() => modelRequest(workspace)} />
        </span>
      </div>
      <div class={page.row}>
        <span class={page.quiet}>
          {placeOf(model, collection)} · <code dir="ltr">{dbName}</code>
        </span>
        <Marks collection={collection} changes={changes} />
      </div>
      {isView && <Notice>{texts.isView}</Notice>}
      {isReadOnly && !isView && <Notice>{texts.isReadOnly}</Notice>}
      {!mayEdit && <p class={page.quiet}>{t.value.palette.takes('dataModel:edit')}</p>}
      <Whole {...of} />
      <Tabs
        label={name}
        tabs={sections.map((one) => ({
          href: one === 'fields' ? pathTo(workspace, 'model', name) : pathTo(workspace, 'model', name, one),
          title: texts.sections[one],
          isCurrent: one === current,
        }))}
      />
      {show[current](of)}
    </>
  )
}

const show: Readonly<Record<Section, (of: OfCollection) => ComponentChildren>> = {
  fields: (of) => <Fields {...of} />,
  relations: (of) => <Relations {...of} />,
  indexes: (of) => <Indexes {...of} />,
  names: (of) => <Names {...of} />,
}

/** What is done to the collection as a whole. */
function Whole({ workspace, collection, changes, isNew, mayEdit }: OfCollection) {
  const texts = modelTexts.value
  const { apiName, hasHistory, isReadOnly, isView } = collection
  const [isRenamed, setRenamed] = useState(false)
  const remove = () => {
    const kept = changesOf(workspace)
    const made = makingOf(changes, collection.id)
    if (made === undefined) addChange(workspace, deleteCollection(collection))
    else kept.value = without(changes, made)
    navigate(pathTo(workspace, 'model'))
  }
  return (
    <div class={page.row}>
      <span class={page.quiet}>{hasHistory ? texts.historyOn : texts.historyOff}</span>
      {mayEdit && (
        <>
          {!isNew && !isReadOnly && !isView && (
            <Button onClick={() => addChange(workspace, switchHistory(collection))}>
              {hasHistory ? texts.switchOff : texts.switchOn}
            </Button>
          )}
          {!isNew && (
            <Button aria-label={texts.renameOf(apiName)} onClick={() => setRenamed(true)}>
              {texts.rename}
            </Button>
          )}
          <Button look="risky" aria-label={texts.deleteOf(apiName)} onClick={remove}>
            {texts.delete}
          </Button>
        </>
      )}
      {isRenamed && <RenameForm workspace={workspace} collection={collection} onClose={() => setRenamed(false)} />}
    </div>
  )
}

type RenameProps = { readonly workspace: string; readonly collection: Collection; readonly onClose: () => void }

function RenameForm({ workspace, collection, onClose }: RenameProps) {
  const texts = modelTexts.value
  const { id, apiName, dbName, isView } = collection
  const { typed, set, forget } = useTyped([workspace, id, 'rename'], { name: apiName, dbName })
  const close = () => {
    forget()
    onClose()
  }
  return (
    <Dialog title={texts.renameOf(apiName)} onClose={close}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          addChange(workspace, renameCollection(collection, typed))
          close()
          navigate(pathTo(workspace, 'model', typed.name), 'replace')
        }}
      >
        <NameField hint={texts.nameText} value={typed.name} onValue={(name) => set({ name })} />
        {!isView && <DbName isRequired value={typed.dbName} onValue={(to) => set({ dbName: to })} />}
        <FormActions label={texts.add} onCancel={close} />
      </form>
    </Dialog>
  )
}
