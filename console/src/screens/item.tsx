/** One item: all its fields to be read and changed, what it refers to and what refers to it. */

import { useRef, useState } from 'preact/hooks'
import { CodeButton } from '../app/code.tsx'
import { navigate, pathTo } from '../app/router.ts'
import { deletedHere, FILES } from '../data/files.ts'
import { useQuery } from '../data/queries.ts'
import { accessQuery } from '../data/workspaces.ts'
import { t } from '../messages/messages.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Heading } from '../ui/heading.tsx'
import { Fault, Skeleton } from '../ui/notice.tsx'
import { showToast } from '../ui/toasts.tsx'
import { keyTextOf, useWhy, WhyRefused } from './access/asking.tsx'
import { itemRequest } from './code/request.ts'
import { FileContent } from './files/content.tsx'
import { ConflictDialog } from './grid/conflict.tsx'
import { type CollectionModel, calledBy, type FieldModel, formFields, mayUse } from './grid/model.ts'
import { keyOf } from './grid/rows.ts'
import { Unsaved } from './grid/unsaved.tsx'
import type { Row } from './grid/values.ts'
import { WithModel } from './grid/with-model.tsx'
import { DeleteDialog } from './item/delete.tsx'
import { Fields } from './item/fields.tsx'
import { History } from './item/history.tsx'
import styles from './item/item.module.css'
import { copyPath, isAddress, itemQuery } from './item/item-query.ts'
import { Links } from './item/links.tsx'
import { Related } from './item/related.tsx'
import { useForm } from './item/use-form.ts'
import { Missing } from './missing.tsx'
import page from './page.module.css'

type ItemProps = { readonly workspace: string; readonly collection: string; readonly itemKey: readonly string[] }

export default function Item({ workspace, collection, itemKey }: ItemProps) {
  return (
    <WithModel workspace={workspace} collection={collection} look={page.page}>
      {(model) => <Loaded workspace={workspace} model={model} itemKey={itemKey} />}
    </WithModel>
  )
}

type LoadedProps = { readonly workspace: string; readonly model: CollectionModel; readonly itemKey: readonly string[] }

function Loaded(props: LoadedProps) {
  const { data: row, error, refetch } = useQuery(itemQuery(props))
  if (row) return <ItemOf {...props} row={row} onReload={() => void refetch()} />
  if (!isAddress(props) || error?.status === 404) return <Missing workspace={props.workspace} />
  if (!error) return <Skeleton lines={10} />
  const { workspace, model } = props
  return (
    <Fault error={error} onRetry={() => void refetch()}>
      <WhyRefused workspace={workspace} error={error} question={{ collection: model.name, action: 'read' }} />
    </Fault>
  )
}

type ItemOfProps = LoadedProps & { readonly row: Row; readonly onReload: () => void }

function ItemOf({ workspace, model, itemKey, row, onReload }: ItemOfProps) {
  const texts = t.value.item
  const [isDeleting, setDeleting] = useState(false)
  const form = useForm({ workspace, model, itemKey, row })
  const formElement = useRef<HTMLFormElement>(null)
  const named = model.display && !model.display.isKey && calledBy(model.display, row)
  const title = named || itemKey.join(', ')
  const collection = model.name === FILES ? t.value.files.title : model.title
  const why = useWhy(workspace)
  const { data: access } = useQuery(accessQuery(workspace))
  const target = { collection: model.name, key: keyTextOf(model.key, keyOf(model, row)) }
  const whyOf = ({ name }: FieldModel) => {
    if (access === undefined || mayUse(access, model.name, 'update', name)) return undefined
    return why?.({ ...target, action: 'update', field: name })
  }
  const takeBack = (former: Row) => {
    form.takeBack(former)
    showToast(texts.history.takenBack)
    formElement.current?.focus()
  }
  const leave = () => {
    form.discard()
    if (model.name === FILES) {
      const file = { workspace, id: itemKey[0] ?? '', name: title, time: new Date().toISOString() }
      deletedHere.value = [file, ...deletedHere.value]
    }
    showToast(texts.deleted)
    navigate(pathTo(workspace, 'items', model.name), 'replace')
  }
  return (
    <>
      <a class={styles.up} href={pathTo(workspace, 'items', model.name)} dir="auto">
        {collection}
      </a>
      <div class={page.head}>
        <Heading text={named ? title : `${collection} ${title}`} />
        <span class={page.row}>
          <CodeButton request={() => itemRequest(workspace, model, row, form.typed())} />
          {why && (
            <ButtonLink href={why({ ...target, action: 'read' })} aria-label={t.value.item.whyItem}>
              {t.value.item.why}
            </ButtonLink>
          )}
          {model.mayCreate && (
            <ButtonLink tool="copy" href={copyPath(workspace, model.name, itemKey)}>
              {texts.duplicate}
            </ButtonLink>
          )}
          {model.mayDelete && (
            <Button look="risky" tool="delete" aria-haspopup="dialog" onClick={() => setDeleting(true)}>
              {texts.delete}
            </Button>
          )}
        </span>
      </div>
      {model.name === FILES && <FileContent workspace={workspace} id={itemKey[0] ?? ''} onChanged={onReload} />}
      <Unsaved workspace={workspace} model={model} saving={form.saving} />
      <ConflictDialog model={model} saving={form.saving} />
      <div class={styles.parts}>
        <form
          ref={formElement}
          class={styles.form}
          aria-label={texts.fields}
          tabIndex={-1}
          noValidate
          onSubmit={form.submit}
        >
          <Fields workspace={workspace} model={model} fields={formFields(model)} whyOf={whyOf} {...form.fields} />
          <Links workspace={workspace} model={model} row={row} drafts={form.links} onChange={form.onLink} />
          {mayChangeAny(model) && <Foot form={form} />}
        </form>
        <Related workspace={workspace} model={model} row={row} />
      </div>
      <History workspace={workspace} model={model} row={row} mayTakeBack={form.mayTakeBack} onTakeBack={takeBack} />
      {isDeleting && (
        <DeleteDialog
          workspace={workspace}
          model={model}
          row={row}
          title={title}
          onClose={() => setDeleting(false)}
          onChanged={onReload}
          onDeleted={leave}
        />
      )}
    </>
  )
}

function mayChangeAny({ fields, toMany }: CollectionModel): boolean {
  const mayLink = toMany.some(({ linked }) => linked?.mayAdd || linked?.mayRemove)
  return mayLink || fields.some(({ mayUpdate }) => mayUpdate)
}

function Foot({ form: { isUnsaved, isSaving, isSaved, discard } }: { readonly form: ReturnType<typeof useForm> }) {
  const texts = t.value.item
  return (
    <div class={styles.foot}>
      <Button type="submit" look="primary" isBusy={isSaving} disabled={!isUnsaved && !isSaving}>
        {texts.save}
      </Button>
      {isUnsaved && <Button onClick={discard}>{texts.discard}</Button>}
      <p class={page.quiet} role="status">
        {isSaving ? texts.saving : isSaved ? texts.saved : ''}
      </p>
    </div>
  )
}
