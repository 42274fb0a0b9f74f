/** The form of an item: of each field what was typed, else what is on its way, else what is stored. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { itemPath, navigate } from '../../app/router.ts'
import { queries } from '../../data/queries.ts'
import { userId } from '../../data/session.ts'
import { explainFault, isAbout } from '../../messages/fault.ts'
import { t } from '../../messages/messages.ts'
import { calledBy, type FieldModel, formFields, type ToOne } from '../grid/model.ts'
import { keyOf } from '../grid/rows.ts'
import { baseIn, type Change, type Saving, savingOf, waitingIn } from '../grid/saving.ts'
import { formTextOf, isKept, isSame, ownOf, type Row } from '../grid/values.ts'
import { type Drafts, draftsOf, readDrafts, without } from './drafts.ts'
import type { Shown } from './fields.tsx'
import { type ItemPlace, itemQuery } from './item-query.ts'
import {
  backOf,
  type LinkDrafts,
  type LinkedItem,
  linkDraftsOf,
  linkText,
  operationsIn,
  operationsOf,
  withDraft,
  withLink,
} from './link-drafts.ts'
import { type LinksProps, linkedQuery, linkedRelations } from './links.tsx'

type FormProps = ItemPlace & { readonly row: Row }
type Wrong = Readonly<Record<string, string>>

export function useForm(props: FormProps) {
  const { workspace, model, itemKey, row } = props
  const whose = userId.value
  const drafts = useMemo(() => draftsOf(whose, workspace, model.name, itemKey), [whose, workspace, model, itemKey])
  const links = useMemo(() => linkDraftsOf(whose, workspace, model.name, itemKey), [whose, workspace, model, itemKey])
  const saving = useMemo(() => savingOfItem(whose, props), [whose, workspace, model, itemKey])
  const [wrong, setWrong] = useState<Wrong>({})
  const [hasSaved, setSaved] = useState(false)
  const place: Place = { saving, key: keyOf(model, row), row }
  const isUnsaved = Object.keys(drafts.value).length + Object.keys(links.value).length > 0
  const isSaving = [...model.fields, ...model.toMany].some(({ name }) => waitingAt(place, name)?.hasFailed === false)
  useEffect(() => {
    if (!hasSaved || isSaving) return
    for (const kind of ['linked', 'changes']) void queries.invalidateQueries({ queryKey: [kind, workspace] })
  }, [hasSaved, isSaving, workspace])

  const onText = (field: FieldModel, text: string | null, label?: string | null) => {
    setSaved(false)
    setWrong((before) => without(before, field.name))
    drafts.value = withText(drafts.value, place, field, { text, ...(label !== undefined && { label }) })
  }
  /** The fields of the form that have a former value and may be changed. */
  const formerIn = (former: Row) =>
    formFields(model).filter((field) => {
      const value = ownOf(former, field.name)
      return value !== undefined && isKept(field, value) && !shownOf(place, field, drafts.value, wrong).isReadOnly
    })
  const takeBack = (former: Row) => {
    for (const field of formerIn(former)) {
      const value = former[field.name]
      onText(field, value === null ? null : formTextOf(field, value))
    }
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const read = readDrafts(drafts.value, model.fields)
    setWrong(read.wrong)
    if (Object.keys(read.wrong).length > 0) return
    const changes = Object.entries(read.values).map(([field, value]) => {
      return { key: place.key, field, base: drafts.value[field]?.base, value }
    })
    const all = [...changes, ...linkChanges(props, place, links.value)]
    drafts.value = {}
    links.value = {}
    setSaved(true)
    saving.save(all)
  }
  const discard = () => {
    drafts.value = {}
    links.value = {}
    setWrong({})
  }
  const onLink: LinksProps['onChange'] = (relation, change, item) => {
    setSaved(false)
    links.value = withLink(links.value, relation.name, change, item)
  }
  const fields = {
    shownOf: (field: FieldModel) => shownOf(place, field, drafts.value, wrong),
    labelOf: (relation: ToOne) => labelOf(row, relation),
    draftOf: (name: string) => ownOf(drafts.value, name),
    onText,
  }
  const isSaved = hasSaved && !isSaving && saving.edits.value.length === 0
  /** What would be saved now. */
  const typed = (): Row => ({
    ...readDrafts(drafts.value, model.fields).values,
    ...operationsIn(model.toMany, links.value),
  })
  return {
    saving,
    typed,
    isUnsaved,
    links: links.value,
    onLink,
    isSaving,
    isSaved,
    submit,
    discard,
    fields,
    mayTakeBack: (former: Row) => formerIn(former).length > 0,
    /** As if the former values had been typed. */
    takeBack,
  }
}

/** The changes that link and unlink; the lists show at once what they will be. */
function linkChanges({ workspace, model }: ItemPlace, { key, row }: Place, drafts: LinkDrafts): readonly Change[] {
  return linkedRelations(model).flatMap((relation) => {
    const draft = ownOf(drafts, relation.name)
    if (draft === undefined) return []
    const { queryKey } = linkedQuery(workspace, model, relation, row)
    queries.setQueryData<readonly LinkedItem[]>(
      queryKey as readonly unknown[],
      (known) => known && withDraft(known, draft),
    )
    const link = { back: operationsOf(relation, backOf(draft)), shown: linkText(draft) }
    return [{ key, field: relation.name, base: null, value: operationsOf(relation, draft), link }]
  })
}

/** Saves into what is known of this item; where its key changes, the address follows. */
function savingOfItem(whose: string, { workspace, model, itemKey }: ItemPlace): Saving {
  const queryKey = itemQuery({ workspace, model, itemKey }).queryKey as readonly string[]
  const find = (wanted: readonly unknown[]) => {
    const known = queries.getQueryData<Row>(queryKey)
    return known && isSame(keyOf(model, known), wanted) ? known : undefined
  }
  const replace = (wanted: readonly unknown[], now: Row) => {
    if (find(wanted) === undefined) return
    queries.setQueryData(queryKey, now)
    if (!isSame(keyOf(model, now), wanted)) navigate(itemPath(workspace, model.name, keyOf(model, now)), 'replace')
  }
  return savingOf(whose, workspace, model, { find, replace })
}

/** An item as it is stored, with what waits to be saved of it. */
type Place = { readonly saving: Saving; readonly key: readonly unknown[]; readonly row: Row }

const waitingAt = ({ saving, key }: Place, name: string) => waitingIn(saving, key, name)

function shownOf(place: Place, field: FieldModel, drafts: Drafts, wrong: Wrong): Shown {
  const { row } = place
  const found = waitingAt(place, field.name)
  const value = found ? found.change.value : row[field.name]
  const draft = ownOf(drafts, field.name)
  const text = draft ? draft.text : value === null ? null : formTextOf(field, value)
  const isExactly = isKept(field, value)
  const refused = found?.error && isAbout(found.error, field.name) ? explainFault(found.error) : undefined
  const message = ownOf(wrong, field.name) ?? refused ?? (isExactly ? undefined : t.value.grid.wrong.exact)
  return { text, value: row[field.name], wrong: message, isReadOnly: !field.mayUpdate || !isExactly }
}

function labelOf(row: Row, { name, display }: ToOne): string | null {
  const other = ownOf(row, name) as Row | null | undefined
  return other ? calledBy(display, other) : null
}

type Typed = { readonly text: string | null; readonly label?: string | null }

/** Drafts with what was typed into a field; without it where it is as before. */
function withText(drafts: Drafts, place: Place, field: FieldModel, typed: Typed): Drafts {
  const { saving, key, row } = place
  const before = without(drafts, field.name)
  const base = ownOf(drafts, field.name)?.base ?? baseIn(saving, key, field.name, row[field.name]) ?? null
  const isAsBefore =
    typed.text === (base === null ? null : formTextOf(field, base)) && waitingAt(place, field.name) === undefined
  return isAsBefore ? before : { ...before, [field.name]: { ...typed, base } }
}
