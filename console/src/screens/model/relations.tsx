/** The relations of a collection, of every kind: what each leads to, by what, and the forms that make and change one. */
import { useState } from 'preact/hooks'
import { pathTo } from '../../app/router.ts'
import { compareNames } from '../../messages/messages.ts'
import { modelTexts } from '../../messages/model.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import { deleteRelation } from './changes.ts'
import { addChange, type OfCollection, useTyped } from './data.ts'
import { type Family, familyOf, isHeld, mayRefer } from './families.ts'
import styles from './model.module.css'
import { NameField } from './name-fields.tsx'
import { Actions, NameOf, Part } from './part.tsx'
import { type Action, type Collection, holderOf, type Model, type Relation } from './records.ts'
import {
  actionsOf,
  changeRelation,
  createRelation,
  junctionsOf,
  keyOf,
  type NewRelation,
  oppositeOf,
  relationKinds,
} from './relation-changes.ts'

export function Relations(of: OfCollection) {
  const { workspace, model, collection, mayEdit } = of
  const texts = modelTexts.value
  const [dialog, setDialog] = useState<Relation | 'new'>()
  return (
    <Part
      title={texts.sections.relations}
      add={mayEdit ? { label: texts.newRelation, onAdd: () => setDialog('new') } : undefined}
    >
      {collection.relations.length === 0 ? (
        <Empty title={texts.noRelations} text={texts.noRelationsText} />
      ) : (
        <Table
          label={texts.sections.relations}
          rows={collection.relations}
          keyOf={({ id }) => id}
          columns={[
            {
              title: texts.relation,
              cell: ({ id, apiName }) => <NameOf workspace={workspace} id={id} name={apiName} />,
            },
            { title: texts.to, cell: (one) => <Target workspace={workspace} model={model} relation={one} /> },
            { title: texts.kind, cell: (one) => texts.relationKinds[kindOf(model, one)] },
            { title: texts.opposite, cell: (one) => oppositeOf(model, one)?.apiName ?? '' },
            {
              title: texts.onDelete,
              cell: ({ actions, to }) => {
                const other = model.collections.find(({ id }) => id === to)
                if (actions === undefined) return ''
                return other && isHeld(model, collection, other) ? texts.referential[actions.onDelete] : texts.unheld
              },
            },
            ...(mayEdit
              ? [
                  {
                    title: texts.actions,
                    cell: (one: Relation) => (
                      <Actions
                        workspace={workspace}
                        id={one.id}
                        name={one.apiName}
                        onEdit={() => setDialog(one)}
                        deletion={() => deleteRelation(collection, one)}
                      />
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {dialog === 'new' && <RelationForm {...of} onClose={() => setDialog(undefined)} />}
      {dialog !== undefined && dialog !== 'new' && (
        <EditForm {...of} relation={dialog} onClose={() => setDialog(undefined)} />
      )}
    </Part>
  )
}

type TargetProps = { readonly workspace: string; readonly model: Model; readonly relation: Relation }

function Target({ workspace, model, relation: { to, through } }: TargetProps) {
  const texts = modelTexts.value
  const other = model.collections.find(({ id }) => id === to)
  const near = through?.[0]
  const target = near === undefined ? undefined : holderOf(model, near)?.relations.find(({ id }) => id === near)?.to
  const junction = model.collections.find(({ id }) => id === target)
  if (other === undefined) return null
  return (
    <>
      {other.isSystem ? other.apiName : <a href={pathTo(workspace, 'model', other.apiName)}>{other.apiName}</a>}
      {junction && <span class={page.quiet}> {texts.over(junction.apiName)}</span>}
    </>
  )
}

export function kindOf(model: Model, relation: Relation): NewRelation['kind'] {
  if (relation.through !== undefined) return 'manyToMany'
  if (relation.isList) return 'toMany'
  return oppositeOf(model, relation)?.isList === false ? 'oneToOne' : 'toOne'
}

type FormProps = OfCollection & { readonly onClose: () => void }

function RelationForm({ workspace, model, collection, onClose }: FormProps) {
  const texts = modelTexts.value
  const others = model.collections
    .filter(({ isSystem, apiName }) => !isSystem || apiName === 'ServiceFile')
    .toSorted((one, other) => compareNames(one.apiName, other.apiName))
  const { typed, set, forget } = useTyped<NewRelation>([workspace, collection.id, 'relation'], {
    kind: 'toOne',
    to: others.find(({ id }) => id !== collection.id)?.id ?? collection.id,
    name: '',
    opposite: '',
    by: [],
    isRequired: false,
    onDelete: 'noAction',
    onUpdate: 'noAction',
    through: '',
  })
  const { kind } = typed
  const other = others.find(({ id }) => id === typed.to) ?? collection
  const [owner, far] = kind === 'toMany' ? [other, collection] : [collection, other]
  const taken = (of: Collection, name: string) => [...of.fields, ...of.relations].some((one) => one.apiName === name)
  const isAcross = collection.sourceId !== other.sourceId
  const isKept = isHeld(model, collection, other)
  const junctions = junctionsOf(model, collection, other)
  const mayMake = !isAcross && !other.isSystem
  const through = mayMake ? typed.through : typed.through || (junctions[0]?.id ?? '')
  const isMany = kind === 'manyToMany'
  const refusal = refusalOf({ isMany, mayMake, through, ends: isMany ? [collection, other] : [far] })
  const close = () => {
    forget()
    onClose()
  }
  return (
    <Dialog title={texts.newRelation} onClose={close}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          // What was chosen of another collection is not meant of this one.
          const acting = isKept ? {} : ({ onDelete: 'noAction', onUpdate: 'noAction' } as const)
          const change = createRelation(model, collection, { ...typed, ...acting, through })
          if (change === undefined) return
          addChange(workspace, change)
          close()
        }}
      >
        {refusal && <Notice look="warning">{refusal}</Notice>}
        {!isKept && !isMany && <Notice>{texts.unheldText}</Notice>}
        <Select
          label={texts.kind}
          value={kind}
          options={relationKinds.map((one) => [one, texts.relationKinds[one]])}
          onValue={(to) => set({ kind: to, by: [] })}
        />
        <Select
          label={texts.to}
          value={other.id}
          options={others.map(({ id, apiName }) => [id, apiName])}
          onValue={(to) => set({ to, by: [], through: '' })}
        />
        <RelationNames
          typed={typed}
          other={other.apiName}
          onValue={set}
          isTaken={(side) => (side === 'name' ? taken(collection, typed.name) : taken(other, typed.opposite))}
        />
        {isMany && junctions.length > 0 && (
          <Select
            label={texts.through}
            value={through}
            options={[
              ...(mayMake ? [['', texts.newJunction] as const] : []),
              ...junctions.map(({ id, apiName }) => [id, apiName] as const),
            ]}
            onValue={(to) => set({ through: to })}
          />
        )}
        {!isMany && <By owner={owner} far={far} typed={typed} onValue={set} />}
        {!isMany && isKept && <ActionsOf typed={typed} family={familyOf(model, owner.sourceId)} onValue={set} />}
        <FormActions label={texts.add} isDisabled={refusal !== undefined} onCancel={close} />
      </form>
    </Dialog>
  )
}

type RelationDraft = {
  readonly isMany: boolean
  readonly mayMake: boolean
  readonly through: string
  /** Those that need a key. */
  readonly ends: readonly Collection[]
}

function refusalOf({ isMany, mayMake, through, ends }: RelationDraft): string | undefined {
  const texts = modelTexts.value
  if (isMany && !mayMake && through === '') return texts.noJunction
  const keyless = ends.find((one) => keyOf(one).length === 0)
  return keyless && texts.noKey(keyless.apiName)
}

type Names = Pick<NewRelation, 'name' | 'opposite'>

type NamesProps = {
  readonly typed: Names
  readonly other: string
  readonly onValue: (to: Partial<Names>) => void
  readonly isTaken: (side: keyof Names) => boolean
}

function RelationNames({ typed, other, onValue, isTaken }: NamesProps) {
  const texts = modelTexts.value
  const errorOf = (side: keyof Names) => (isTaken(side) ? texts.taken(typed[side]) : undefined)
  return (
    <div class={styles.two}>
      <NameField error={errorOf('name')} value={typed.name} onValue={(name) => onValue({ name })} />
      <NameField
        label={texts.opposite}
        isLater
        hint={texts.oppositeText(other)}
        error={errorOf('opposite')}
        value={typed.opposite}
        onValue={(opposite) => onValue({ opposite })}
      />
    </div>
  )
}

type ByProps = {
  readonly owner: Collection
  readonly far: Collection
  readonly typed: Pick<NewRelation, 'by' | 'isRequired'>
  readonly onValue: (to: Partial<NewRelation>) => void
}

/** By which fields one refers to the key of the other: those of the same type, or new ones. */
function By({ owner, far, typed: { by, isRequired }, onValue }: ByProps) {
  const texts = modelTexts.value
  const key = keyOf(far)
  const isMade = key.some((_, at) => !by[at])
  const isAcross = owner.sourceId !== far.sourceId
  return (
    <>
      {key.map(({ id, apiName, type }, at) => (
        <Select
          key={id}
          label={texts.by(`${far.apiName}.${apiName}`)}
          value={by[at] ?? ''}
          options={[
            ...(owner.isView ? [] : [['', texts.newColumn] as const]),
            ...owner.fields
              .filter((field) => mayRefer(field.type, type, isAcross) && !field.isList && field.id !== id)
              .map((field) => [field.id, `${owner.apiName}.${field.apiName}`] as const),
          ]}
          onValue={(to) => onValue({ by: key.map((_, place) => (place === at ? to : (by[place] ?? ''))) })}
        />
      ))}
      {isMade && (
        <Checkbox label={texts.isRequired} isChecked={isRequired} onCheck={(is) => onValue({ isRequired: is })} />
      )}
    </>
  )
}

type Acting = { readonly onDelete: Action; readonly onUpdate: Action }

type ActionsProps = {
  readonly typed: Acting
  readonly family: Family
  readonly onValue: (to: Partial<Acting>) => void
}

function ActionsOf({ typed, family, onValue }: ActionsProps) {
  const texts = modelTexts.value
  const options = family.actions.map((one) => [one, texts.referential[one]] as const)
  return (
    <div class={styles.two}>
      <Select
        label={texts.onDelete}
        value={typed.onDelete}
        options={options}
        onValue={(onDelete) => onValue({ onDelete })}
      />
      <Select
        label={texts.onUpdate}
        value={typed.onUpdate}
        options={options}
        onValue={(onUpdate) => onValue({ onUpdate })}
      />
    </div>
  )
}

function EditForm({ workspace, model, collection, relation, onClose }: FormProps & { readonly relation: Relation }) {
  const texts = modelTexts.value
  const back = oppositeOf(model, relation)
  const actions = actionsOf(model, relation)
  const other = model.collections.find(({ id }) => id === relation.to)
  const isKept = other !== undefined && isHeld(model, collection, other)
  const { typed, set, forget } = useTyped([workspace, relation.id], {
    name: relation.apiName,
    opposite: back?.apiName ?? '',
    onDelete: actions?.onDelete ?? 'noAction',
    onUpdate: actions?.onUpdate ?? 'noAction',
  })
  const close = () => {
    forget()
    onClose()
  }
  return (
    <Dialog title={texts.editOf(relation.apiName)} onClose={close}>
      <form
        class={page.stack}
        onSubmit={(event) => {
          event.preventDefault()
          addChange(workspace, changeRelation(model, collection, relation, typed))
          close()
        }}
      >
        <RelationNames typed={typed} other={other?.apiName ?? ''} onValue={set} isTaken={() => false} />
        {actions &&
          (isKept ? (
            <ActionsOf typed={typed} family={familyOf(model, collection.sourceId)} onValue={set} />
          ) : (
            <Notice>{texts.unheldText}</Notice>
          ))}
        <FormActions label={texts.add} onCancel={close} />
      </form>
    </Dialog>
  )
}
