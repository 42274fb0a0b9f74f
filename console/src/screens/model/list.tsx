/** All collections by where they live, what may be done there, and databases that were changed outside of the service. */
import { useState } from 'preact/hooks'
import { navigate, pathTo } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { accessQuery, namesQuery } from '../../data/workspaces.ts'
import { compareNames, formatNumber, t } from '../../messages/messages.ts'
import { modelTexts } from '../../messages/model.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { CollectionMark } from '../../ui/icon.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import { connectorsQuery, OWN } from '../sources/data.ts'
import { createCollection, createNamespace, isChanged, makingOf, NAME, type NewCollection } from './changes.ts'
import { addChange, type Draft, driftQuery, useTyped } from './data.ts'
import styles from './model.module.css'
import { DbName, NameField } from './name-fields.tsx'
import { ChangedMark } from './part.tsx'
import type { Collection, Model } from './records.ts'

export function List(draft: Draft) {
  const { workspace, model, mayEdit } = draft
  const texts = modelTexts.value
  const [text, setText] = useState('')
  const [dialog, setDialog] = useState<'collection' | 'namespace'>()
  const { data: drifted = [] } = useQuery(driftQuery(workspace))
  const all = model.collections.filter(({ isSystem }) => !isSystem)
  const wanted = text.trim().toLowerCase()
  const found = all
    .filter(({ apiName, dbName }) => `${apiName} ${dbName}`.toLowerCase().includes(wanted))
    .toSorted((one, other) => compareNames(one.apiName, other.apiName))
  const groups = Map.groupBy(found, (one) => placeOf(model, one))
  const close = () => setDialog(undefined)
  return (
    <div class={styles.part}>
      <div class={page.head}>
        <span class={styles.find}>
          <Field type="search" label={texts.find} value={text} onValue={setText} />
        </span>
        {mayEdit ? (
          <span class={page.row}>
            <Button onClick={() => setDialog('namespace')}>{texts.newNamespace}</Button>
            <Button look="primary" onClick={() => setDialog('collection')}>
              {texts.newCollection}
            </Button>
          </span>
        ) : (
          <span class={page.quiet}>{t.value.palette.takes('dataModel:edit')}</span>
        )}
      </div>
      {drifted.map((id) => (
        <Notice
          key={id}
          look="warning"
          action={<ButtonLink href={pathTo(workspace, 'sources', id)}>{texts.look}</ButtonLink>}
        >
          {texts.drifted(sourceName(model, id))}
        </Notice>
      ))}
      {all.length === 0 && <Empty title={texts.none} text={texts.noneText} />}
      {all.length > 0 && found.length === 0 && <Empty title={texts.noneFound} />}
      {[...groups].map(([place, collections]) => (
        <div key={place} class={styles.group}>
          <h2>{place}</h2>
          <Collections {...draft} label={place} collections={collections} />
        </div>
      ))}
      {dialog === 'collection' && <NewCollectionForm {...draft} onClose={close} />}
      {dialog === 'namespace' && <NewNamespaceForm {...draft} onClose={close} />}
    </div>
  )
}

/** The namespace of who names none: of the workspace's own source it is known. */
function usualOf({ sources }: Model, id: string, workspace: string): string {
  const isOwn = sources.find((one) => one.id === id)?.name === OWN
  return isOwn ? `service_${workspace}_data` : modelTexts.value.noNamespace
}

function sourceName({ sources }: Model, id: string): string {
  const name = sources.find((one) => one.id === id)?.name ?? id
  return name === OWN ? modelTexts.value.own : name
}

export function placeOf(model: Model, { sourceId, namespaceId }: Collection): string {
  const namespace = model.namespaces.find(({ id }) => id === namespaceId)?.dbName ?? ''
  return modelTexts.value.place(sourceName(model, sourceId), namespace)
}

type CollectionsProps = Draft & { readonly label: string; readonly collections: readonly Collection[] }

function Collections({ workspace, changes, label, collections }: CollectionsProps) {
  const texts = modelTexts.value
  const { data: names } = useQuery(namesQuery(workspace))
  return (
    <Table
      label={label}
      rows={collections}
      keyOf={({ id }) => id}
      columns={[
        {
          title: texts.collection,
          cell: ({ id, apiName }) => {
            const named = names?.get(id)
            return (
              <span class={styles.named}>
                <CollectionMark emoji={named?.icon} color={named?.color} />
                <a href={pathTo(workspace, 'model', apiName)}>{apiName}</a>
                {named?.displayName && <span dir="auto">{named.displayName}</span>}
              </span>
            )
          },
        },
        {
          title: texts.shape,
          cell: ({ fields, relations }) =>
            [
              texts.fieldCount(formatNumber(fields.length), fields.length),
              texts.relationCount(formatNumber(relations.length), relations.length),
            ].join(' · '),
        },
        { title: texts.state, cell: (one) => <Marks collection={one} changes={changes} /> },
      ]}
    />
  )
}

type MarksProps = { readonly collection: Collection; readonly changes: Draft['changes'] }

export function Marks({ collection, changes }: MarksProps) {
  const texts = modelTexts.value.marks
  const { id, isReadOnly, isView, hasHistory } = collection
  return (
    <span class={styles.marks}>
      {makingOf(changes, id) !== undefined && (
        <span class={styles.mark} data-is-new>
          {texts.new}
        </span>
      )}
      {changesWithin(collection, changes) && <ChangedMark />}
      {isView && <span class={styles.mark}>{texts.view}</span>}
      {isReadOnly && <span class={styles.mark}>{texts.readOnly}</span>}
      {hasHistory && <span class={styles.mark}>{texts.history}</span>}
    </span>
  )
}

/** Of a collection that is there: whether it, or anything in it, is changed. */
function changesWithin({ id, fields, relations }: Collection, changes: Draft['changes']): boolean {
  if (makingOf(changes, id) !== undefined) return false
  return [id, ...[...fields, ...relations].map((one) => one.id)].some((one) => isChanged(changes, one))
}

type FormProps = Draft & { readonly onClose: () => void }

const keys = ['int64', 'uuid', 'string'] as const

function NewCollectionForm({ workspace, model, onClose }: FormProps) {
  const texts = modelTexts.value
  const first = model.sources.find(({ name }) => name === OWN) ?? model.sources[0]
  const { typed, set, forget } = useTyped<NewCollection>([workspace, 'collection'], {
    name: '',
    dbName: '',
    sourceId: first?.id ?? '',
    namespaceId: '',
    key: 'int64',
    keyName: 'id',
  })
  const name = typed.name.trim()
  const isTaken = model.collections.some(({ apiName }) => apiName === name)
  const namespaces = model.namespaces.filter(({ sourceId }) => sourceId === typed.sourceId)
  const close = () => {
    forget()
    onClose()
  }
  return (
    <Dialog title={texts.newCollection} onClose={close}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          addChange(workspace, createCollection(model, { ...typed, name }))
          close()
          navigate(pathTo(workspace, 'model', name))
        }}
      >
        <NameField
          hint={texts.nameText}
          error={isTaken ? texts.taken(name) : undefined}
          value={typed.name}
          onValue={(to) => set({ name: to })}
        />
        <DbName value={typed.dbName} onValue={(dbName) => set({ dbName })} />
        <SourceSelect
          workspace={workspace}
          model={model}
          value={typed.sourceId}
          onValue={(sourceId) => set({ sourceId, namespaceId: '' })}
        />
        {namespaces.length > 0 && (
          <Select
            label={texts.namespace}
            value={typed.namespaceId}
            options={[
              ['', usualOf(model, typed.sourceId, workspace)],
              ...namespaces.map(({ id, dbName }) => [id, dbName] as const),
            ]}
            onValue={(namespaceId) => set({ namespaceId })}
          />
        )}
        <div class={styles.two}>
          <Select
            label={texts.key}
            value={typed.key}
            options={keys.map((one) => [one, texts.keys[one]])}
            onValue={(key) => set({ key })}
          />
          <Field
            label={texts.keyName}
            required
            dir="ltr"
            pattern={NAME}
            spellcheck={false}
            value={typed.keyName}
            onValue={(keyName) => set({ keyName })}
          />
        </div>
        <FormActions label={texts.add} isDisabled={isTaken} onCancel={close} />
      </form>
    </Dialog>
  )
}

type SourceProps = Pick<Draft, 'workspace' | 'model'> & {
  readonly value: string
  readonly onValue: (id: string) => void
}

/** Two of the same database may be called much alike: its kind, and how much of it is here, tell them apart. */
function SourceSelect({ workspace, model, value, onValue }: SourceProps) {
  const texts = modelTexts.value
  const { data: access } = useQuery(accessQuery(workspace))
  const mayRead = access?.entitlements.includes('extension:read') === true
  const { data } = useQuery({ ...connectorsQuery(workspace), enabled: mayRead })
  const called = ({ id, name, provider }: Model['sources'][number]) => {
    if (name === OWN) return texts.own
    const kind = data?.data.find((one) => one.id === provider)?.name ?? provider
    const count = model.collections.filter(({ sourceId, isSystem }) => sourceId === id && !isSystem).length
    return [name, kind, sourceTexts.value.count(formatNumber(count), count)].join(' · ')
  }
  return (
    <Select
      label={texts.source}
      value={value}
      options={model.sources.map((source) => [source.id, called(source)])}
      onValue={onValue}
    />
  )
}

function NewNamespaceForm({ workspace, model, onClose }: FormProps) {
  const texts = modelTexts.value
  const first = { sourceId: model.sources[0]?.id ?? '', dbName: '' }
  const { typed, set, forget } = useTyped([workspace, 'namespace'], first)
  const close = () => {
    forget()
    onClose()
  }
  return (
    <Dialog title={texts.newNamespace} onClose={close}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          addChange(workspace, createNamespace(typed))
          close()
        }}
      >
        <SourceSelect
          workspace={workspace}
          model={model}
          value={typed.sourceId}
          onValue={(sourceId) => set({ sourceId })}
        />
        <Field
          label={texts.dbName}
          hint={texts.namespaceText(workspace)}
          required
          autofocus
          dir="ltr"
          maxLength={63}
          spellcheck={false}
          value={typed.dbName}
          onValue={(dbName) => set({ dbName })}
        />
        <FormActions label={texts.add} onCancel={close} />
      </form>
    </Dialog>
  )
}
