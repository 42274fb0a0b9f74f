/** A new item: the fields that this caller may set; what is left out is filled in by its default. */
import { ServiceError } from 'governed-data-client'
import { useRef, useState } from 'preact/hooks'
import { CodeButton } from '../app/code.tsx'
import { address, itemPath, navigate, pathTo } from '../app/router.ts'
import { useQuery } from '../data/queries.ts'
import { userId } from '../data/session.ts'
import { explainFault, isAbout } from '../messages/fault.ts'
import { t } from '../messages/messages.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Heading } from '../ui/heading.tsx'
import { Fault, Notice, Skeleton } from '../ui/notice.tsx'
import { showToast } from '../ui/toasts.tsx'
import { WhyRefused } from './access/asking.tsx'
import { itemsOf } from './grid/items.ts'
import { type CollectionModel, calledBy, type FieldModel, formFields } from './grid/model.ts'
import { keyOf } from './grid/rows.ts'
import { formTextOf, isKept, isSame, ownOf, type Row } from './grid/values.ts'
import { WithModel } from './grid/with-model.tsx'
import { type Drafts, draftsOf, readDrafts, without } from './item/drafts.ts'
import { Fields } from './item/fields.tsx'
import { givenDrafts, givenIn } from './item/given.ts'
import styles from './item/item.module.css'
import { COPY, copiedIn, type ItemPlace, isAddress, itemQuery } from './item/item-query.ts'
import { linkDraftsOf, operationsIn, withLink } from './item/link-drafts.ts'
import { Links } from './item/links.tsx'
import { Missing } from './missing.tsx'
import page from './page.module.css'

type NewItemProps = { readonly workspace: string; readonly collection: string }

export default function NewItem({ workspace, collection }: NewItemProps) {
  return (
    <WithModel workspace={workspace} collection={collection} look={page.page}>
      {(model) => {
        if (!model.mayCreate) return <Missing workspace={workspace} />
        const copied = copiedIn(address.value.searchParams)
        if (copied === undefined) return <Form workspace={workspace} model={model} />
        return <Copy workspace={workspace} model={model} itemKey={copied} />
      }}
    </WithModel>
  )
}

function Copy(place: ItemPlace) {
  const { data: row, error, refetch } = useQuery(itemQuery(place))
  if (row) return <Form {...place} row={row} />
  if (!isAddress(place) || error?.status === 404) return <Missing workspace={place.workspace} />
  return error ? <Fault error={error} onRetry={() => void refetch()} /> : <Skeleton lines={10} />
}

/** What is typed of a copy at first: all that may be given, but for keys that are made. */
function copyOf(row: Row, model: CollectionModel, fields: readonly FieldModel[]): Drafts {
  const taken = fields.filter((field) => !(field.isKey && field.hasDefault) && isKept(field, row[field.name]))
  const labels = new Map(
    model.toOne.flatMap(({ name, by, display }) => {
      const other = ownOf(row, name) as Row | null | undefined
      return other ? by.map((field) => [field, calledBy(display, other)] as const) : []
    }),
  )
  return Object.fromEntries(
    taken.flatMap((field) => {
      const value = row[field.name] ?? null
      if (value === null && (field.isNullable || field.hasDefault)) return []
      const label = labels.get(field.name)
      return [[field.name, { text: formTextOf(field, value), base: undefined, ...(label && { label }) }] as const]
    }),
  )
}

type FormProps = {
  readonly workspace: string
  readonly model: CollectionModel
  /** Of what it is a copy. */
  readonly row?: Row | undefined
}

function Form({ workspace, model, row }: FormProps) {
  const texts = t.value.item
  const list = pathTo(workspace, 'items', model.name) + givenIn(address.value.searchParams).list
  const form = useNewItem({ workspace, model, row }, list)
  const { fields, drafts, links, wrong, error, isBusy, hasKept, onText, submit } = form
  return (
    <>
      <div class={page.head}>
        <Heading text={texts.createTitle(model.title)} />
        <CodeButton
          request={() => {
            const data = { ...readDrafts(drafts.value, fields).values, ...operationsIn(model.toMany, links.value) }
            return { workspace, collection: model.name, method: 'POST', query: {}, data }
          }}
        />
      </div>
      {hasKept && <Notice>{texts.unsavedKept}</Notice>}
      {error && (
        <Fault error={error}>
          <WhyRefused workspace={workspace} error={error} question={{ collection: model.name, action: 'create' }} />
        </Fault>
      )}
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
function useNewItem({ workspace, model, row }: FormProps, list: string) {
  const fields = formFields(model, true).filter(({ mayCreate }) => mayCreate)
  const [{ given }] = useState(() => givenIn(address.value.searchParams))
  const initialDrafts = givenDrafts(given, fields)
  const of = Object.keys(initialDrafts).length > 0 ? [given] : []
  const place = [userId.value, workspace, model.name, ...(row ? [COPY, ...keyOf(model, row)] : of)]
  const [drafts, links] = [draftsOf(...place), linkDraftsOf(...place)]
  const [hasKept] = useState(() => {
    const isAsGiven = isSame(drafts.value, initialDrafts)
    return (Object.keys(drafts.value).length > 0 && !isAsGiven) || Object.keys(links.value).length > 0
  })
  useState(() => {
    if (!hasKept) drafts.value = row ? copyOf(row, model, fields) : initialDrafts
  })
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({})
  const [error, setError] = useState<ServiceError | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  // One try that was lost on its way and the next are one item.
  const sent = useRef({ body: '', idempotencyKey: '' })

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
    const options = { idempotencyKey: sent.current.idempotencyKey, ...(model.key.length > 0 && { fields: model.key }) }
    const row = await itemsOf(workspace, model).create(values, options).orThrow()
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
      const about = fields.filter(({ name }) => isAbout(cause, name))
      setWrong(Object.fromEntries(about.map(({ name }) => [name, explainFault(cause)])))
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
