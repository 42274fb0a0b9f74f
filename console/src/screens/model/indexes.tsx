/** The indexes of a collection, its key among them. */
import { useState } from 'preact/hooks'
import { modelTexts } from '../../messages/model.ts'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { Table } from '../../ui/table.tsx'
import { Choices } from '../access/choices.tsx'
import page from '../page.module.css'
import { createIndex, deleteIndex } from './changes.ts'
import { addChange, type OfCollection, useTyped } from './data.ts'
import { Actions, Part } from './part.tsx'
import { type Index, indexKinds } from './records.ts'

export function Indexes(of: OfCollection) {
  const { workspace, collection, mayEdit } = of
  const texts = modelTexts.value
  const [isMaking, setMaking] = useState(false)
  const namesOf = ({ fieldIds }: Index) =>
    fieldIds.map((id) => collection.fields.find((field) => field.id === id)?.apiName ?? id).join(', ')
  const mayAdd = mayEdit && (!collection.isReadOnly || collection.isView)
  return (
    <Part
      title={texts.sections.indexes}
      add={mayAdd ? { label: texts.newIndex, onAdd: () => setMaking(true) } : undefined}
    >
      {collection.indexes.length === 0 ? (
        <Empty title={texts.noIndexes} text={texts.noIndexesText} />
      ) : (
        <Table
          label={texts.sections.indexes}
          rows={collection.indexes}
          keyOf={({ id }) => id}
          columns={[
            { title: texts.index, cell: namesOf },
            { title: texts.kind, cell: ({ kind }) => texts.indexKinds[kind] },
            ...(mayAdd
              ? [
                  {
                    title: texts.actions,
                    cell: (index: Index) => (
                      <Actions
                        workspace={workspace}
                        id={index.id}
                        name={namesOf(index)}
                        deletion={() => deleteIndex(collection, index)}
                      />
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {isMaking && <IndexForm {...of} onClose={() => setMaking(false)} />}
    </Part>
  )
}

type Typed = Omit<Index, 'id'>

function IndexForm({ workspace, collection, onClose }: OfCollection & { readonly onClose: () => void }) {
  const texts = modelTexts.value
  const { fields, indexes, isView } = collection
  const hasKey = indexes.some(({ kind }) => kind === 'primary')
  const kinds = isView ? indexKinds.filter((one) => one === 'primary') : indexKinds
  const empty: Typed = { kind: isView ? 'primary' : 'normal', fieldIds: [] }
  const { typed, set, forget } = useTyped<Typed>([workspace, collection.id, 'index'], empty)
  const [isWrong, setWrong] = useState(false)
  const close = () => {
    forget()
    onClose()
  }
  return (
    <Dialog title={texts.newIndex} onClose={close}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          setWrong(typed.fieldIds.length === 0)
          if (typed.fieldIds.length === 0) return
          addChange(workspace, createIndex(collection, typed))
          close()
        }}
      >
        {isWrong && <Notice look="danger">{texts.chooseFields}</Notice>}
        <Select
          label={texts.kind}
          value={typed.kind}
          options={kinds
            .filter((one) => one !== 'primary' || !hasKey)
            .map((one) => [one, texts.indexKinds[one]] as const)}
          onValue={(kind) => set({ kind })}
        />
        <Choices
          label={texts.indexFields}
          options={fields.map(({ id, apiName }) => [id, apiName])}
          chosen={typed.fieldIds}
          onChosen={(fieldIds) => set({ fieldIds })}
        />
        <FormActions label={texts.add} onCancel={close} />
      </form>
    </Dialog>
  )
}
