/** A new item: the fields that this caller may set; what is left out is filled in by its default. */
import { ServiceError } from 'governed-data-client'
import { useRef, useState } from 'preact/hooks'
import { itemPath, navigate, pathTo } from '../app/router.ts'
import { userId } from '../data/session.ts'
import { t } from '../messages/messages.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Fault, Notice } from '../ui/notice.tsx'
import { showToast } from '../ui/toasts.tsx'
import { CodeButton } from './code/dialog.tsx'
import { itemsOf } from './grid/items.ts'
import { type CollectionModel, type FieldModel, formFields } from './grid/model.ts'
import { keyOf } from './grid/rows.ts'
import { ownOf, type Row } from './grid/values.ts'
import { WithModel } from './grid/with-model.tsx'
import { type Drafts, draftsOf, readDrafts, without } from './item/drafts.ts'
import { Fields } from './item/fields.tsx'
import styles from './item/item.module.css'
import { linkDraftsOf, operationsIn, withLink } from './item/link-drafts.ts'
import { Links } from './item/links.tsx'
import { Missing } from './missing.tsx'
import page from './page.module.css'

type NewItemProps = { readonly workspace: string; readonly collection: string }

export default function NewItem({ workspace, collection }: NewItemProps) {
  return (
    <WithModel workspace={workspace} collection={collection} look={page.page}>
      {(model) => (model.mayCreate ? <Form workspace={workspace} model={model} /> : <Missing workspace={workspace} />)}
    </WithModel>
  )
}

type FormProps = { readonly workspace: string; readonly model: CollectionModel }

function Form({ workspace, model }: FormProps) {
  const texts = t.value.item
  const list = pathTo(workspace, 'items', model.name)
  const form = useNewItem(workspace, model, list)
  const { fields, drafts, links, wrong, error, isBusy, hasKept, onText, submit } = form
  return (
    <>
      <div class={page.head}>
        <h1>
          <bdi>{texts.createTitle(model.title)}</bdi>
        </h1>
        <CodeButton
          request={() => {
            const data = { ...readDrafts(drafts.value, fields).values, ...operationsIn(model.toMany, links.value) }
            return { workspace, collection: model.name, method: 'POST', query: {}, data }
          }}
        />
      </div>
      {hasKept && <Notice>{texts.unsavedKept}</Notice>}
      {error && <Fault error={error} />}
      <form class={styles.form} aria-label={texts.fields} noValidate onSubmit={submit}>
        <Fields
          workspace={workspace}
          model={model}
          fields={fields}
          isNew
          shownOf={({ name }) => {
            return {
              text: ownOf(drafts.value, name)?.text,
              value: undefined,
              wrong: ownOf(wrong, name),
              isReadOnly: false,
            }
          }}
          labelOf={() => null}
          draftOf={(name) => ownOf(drafts.value, name)}
          onText={onText}
        />
        <Links
          workspace={workspace}
          model={model}
          row={undefined}
          drafts={links.value}
          onChange={(relation, change, item) => {
            links.value = withLink(links.value, relation.name, change, item)
          }}
        />
        <div class={styles.foot}>
          <Button type="submit" look="primary" isBusy={isBusy}>
            {texts.save}
          </Button>
          <ButtonLink
            href={list}
            onClick={() => {
              drafts.value = {}
              links.value = {}
            }}
          >
            {t.value.common.cancel}
          </ButtonLink>
        </div>
      </form>
    </>
  )
}

/** What was typed of an item that is not there yet, and its creation. */
function useNewItem(workspace: string, model: CollectionModel, list: string) {
  const drafts = draftsOf(userId.value, workspace, model.name)
  const links = linkDraftsOf(userId.value, workspace, model.name)
  const isUnsaved = Object.keys(drafts.value).length + Object.keys(links.value).length > 0
  const [hasKept] = useState(isUnsaved)
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({})
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  // One try that was lost on its way and the next are one item.
  const sent = useRef({ body: '', idempotencyKey: '' })
  const fields = formFields(model, true).filter(({ mayCreate }) => mayCreate)

  const onText = (field: FieldModel, text: string | null, label?: string | null) => {
    setWrong((now) => without(now, field.name))
    const before = without(drafts.value, field.name)
    const isLeftOut = (text === '' || text === null) && (field.isNullable || field.hasDefault)
    drafts.value = isLeftOut
      ? before
      : { ...before, [field.name]: { text, base: undefined, ...(label !== undefined && { label }) } }
  }
  const create = async (values: Row) => {
    const body = JSON.stringify(values)
    if (sent.current.body !== body) sent.current = { body, idempotencyKey: crypto.randomUUID() }
    const asked = { idempotencyKey: sent.current.idempotencyKey, ...(model.key.length > 0 && { fields: model.key }) }
    const row = await itemsOf(workspace, model).create(values, asked).orThrow()
    drafts.value = {}
    links.value = {}
    showToast(t.value.item.created)
    navigate(row && model.key.length > 0 ? itemPath(workspace, model.name, keyOf(model, row)) : list, 'replace')
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    const read = readDrafts(drafts.value, fields)
    const all = { ...read.wrong, ...missingIn(drafts.value, fields) }
    setWrong(all)
    if (Object.keys(all).length > 0) return
    setBusy(true)
    setError(undefined)
    try {
      await create({ ...read.values, ...operationsIn(model.toMany, links.value) })
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause
      setError(cause)
      setBusy(false)
    }
  }
  return { fields, drafts, links, wrong, error, isBusy, hasKept, onText, submit }
}

/** Fields that nothing was said of and nothing fills in. */
function missingIn(drafts: Drafts, fields: readonly FieldModel[]): Readonly<Record<string, string>> {
  const missing = fields.filter(
    ({ name, isNullable, hasDefault }) => !isNullable && !hasDefault && !ownOf(drafts, name),
  )
  return Object.fromEntries(missing.map(({ name }) => [name, t.value.grid.wrong.required]))
}
