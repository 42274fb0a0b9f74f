/** How a collection and its fields are called and shown to people. It is saved at once, as no program goes by it. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { lazy } from '../../app/lazy.tsx'
import { clientOf } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { modelChanged, namesQuery, type Presentation } from '../../data/workspaces.ts'
import { accountTexts } from '../../messages/account.ts'
import { modelTexts } from '../../messages/model.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Dialog, FormActions } from '../../ui/dialog.tsx'
import { Field as Input } from '../../ui/field.tsx'
import { Notice, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { type OfCollection, useTyped } from './data.ts'
import styles from './model.module.css'
import { Part } from './part.tsx'

const IconPicker = lazy(() => import('./icon-picker.tsx'))

/** What is shown: a collection, or a field or relation of one. */
type Thing = { readonly id: string; readonly apiName: string; readonly isCollection: boolean }

export function Names({ workspace, collection, isNew, mayEdit }: OfCollection) {
  const texts = modelTexts.value
  const { data: names, error, refetch } = useQuery(namesQuery(workspace))
  const [dialog, setDialog] = useState<Thing>()
  if (names === undefined) return <Pending data={names} error={error} onRetry={() => void refetch()} lines={4} />
  const { id, apiName } = collection
  const things: readonly Thing[] = [
    { id, apiName, isCollection: true },
    ...[...collection.fields, ...collection.relations].map((one) => ({ ...one, isCollection: false })),
  ]
  const textOf = (thing: Thing, member: 'displayName' | 'icon' | 'displayTemplate') =>
    names.get(thing.id)?.[member] ?? ''
  return (
    <Part title={texts.sections.names}>
      <p class={page.quiet}>{texts.namesText}</p>
      <Table
        label={texts.sections.names}
        rows={things}
        keyOf={(thing) => thing.id}
        columns={[
          {
            title: texts.name,
            cell: (thing) => (thing.isCollection ? <strong>{thing.apiName}</strong> : thing.apiName),
          },
          {
            title: texts.displayName,
            cell: (thing) => `${textOf(thing, 'icon')} ${textOf(thing, 'displayName')}`.trim(),
          },
          { title: texts.template, cell: (thing) => textOf(thing, 'displayTemplate') },
          ...(mayEdit && !isNew
            ? [
                {
                  title: texts.actions,
                  cell: (thing: Thing) => (
                    <Button aria-label={texts.presentOf(thing.apiName)} onClick={() => setDialog(thing)}>
                      {texts.present}
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {dialog && (
        <NamesForm
          key={dialog.id}
          workspace={workspace}
          thing={dialog}
          before={names.get(dialog.id)}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Part>
  )
}

type FormProps = {
  readonly workspace: string
  readonly thing: Thing
  readonly before: Presentation | undefined
  readonly onClose: () => void
}

function NamesForm({ workspace, thing, before, onClose }: FormProps) {
  const texts = modelTexts.value
  const { typed, set, forget } = useTyped([workspace, thing.id, 'names'], {
    displayName: before?.displayName ?? '',
    description: before?.description ?? '',
    icon: before?.icon ?? '',
    color: before?.color ?? '',
    displayTemplate: before?.displayTemplate ?? '',
    sort: String(before?.sort ?? ''),
    isHidden: before?.isHidden ?? false,
  })
  const [isPicking, setPicking] = useState(false)
  const close = () => {
    forget()
    onClose()
  }
  const { fault, isBusy, submit } = useSubmission(async () => {
    const { sort, isHidden, ...others } = typed
    const key = thing.isCollection ? 'collectionId' : 'fieldId'
    const row = {
      [key]: thing.id,
      ...Object.fromEntries(Object.entries(others).map(([member, text]) => [member, text.trim() || null])),
      sort: sort === '' ? null : Number(sort),
      isHidden,
    }
    const path = `items/${thing.isCollection ? 'ServiceCollectionMeta' : 'ServiceFieldMeta'}`
    const query = { 'conflict[fields]': key, 'conflict[do]': 'update' }
    const answer = await clientOf(workspace).$request('POST', path, { body: [row], query })
    if (!answer.ok) return faultOf(answer)
    close()
    showToast(texts.saved)
    await modelChanged(workspace)
    return undefined
  })
  type Member = Exclude<keyof typeof typed, 'isHidden'>
  const input = (member: Member, label: string, hint?: string, children?: ComponentChildren) => (
    <Input label={label} hint={hint} isOptional value={typed[member]} onValue={(to) => set({ [member]: to })}>
      {children}
    </Input>
  )
  return (
    <Dialog title={texts.presentOf(thing.apiName)} onClose={close}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        {input('displayName', texts.displayName)}
        {input('description', texts.description)}
        <div class={styles.two}>
          {input(
            'icon',
            texts.icon,
            texts.iconText,
            <Button aria-label={texts.chooseIcon} aria-haspopup="dialog" onClick={() => setPicking(true)}>
              {texts.choose}
            </Button>,
          )}
          {input(
            'color',
            texts.color,
            texts.colorText,
            <input
              type="color"
              class={styles.color}
              aria-label={texts.chooseColor}
              value={hexOf(typed.color)}
              onInput={({ currentTarget }) => set({ color: currentTarget.value })}
            />,
          )}
        </div>
        {thing.isCollection && input('displayTemplate', texts.template, texts.templateText)}
        <Input
          label={texts.sort}
          hint={texts.sortText}
          isOptional
          dir="ltr"
          pattern="-?[0-9]+"
          value={typed.sort}
          onValue={(sort) => set({ sort })}
        />
        <Checkbox label={texts.isHidden} isChecked={typed.isHidden} onCheck={(isHidden) => set({ isHidden })} />
        <FormActions label={accountTexts.value.save} isBusy={isBusy} onCancel={close} />
      </form>
      {isPicking && (
        <IconPicker
          onClose={() => setPicking(false)}
          onPick={(icon) => {
            set({ icon })
            setPicking(false)
          }}
        />
      )}
    </Dialog>
  )
}

/** A colour of CSS as the input of colours takes it; of what is none it is black. */
function hexOf(color: string): string {
  const brush = document.createElement('canvas').getContext('2d')
  if (brush === null) return '#000000'
  brush.fillStyle = color.trim()
  const { fillStyle } = brush
  return typeof fillStyle === 'string' && /^#[\da-f]{6}$/.test(fillStyle) ? fillStyle : '#000000'
}
