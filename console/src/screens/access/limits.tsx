/** What an action of a policy is limited to: fields, and the conditions that rows have to meet. */
import { useMemo, useState } from 'preact/hooks'
import { useQuery } from '../../data/queries.ts'
import { accessTexts } from '../../messages/access.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { filterColumns } from '../grid/columns.ts'
import { editableIn, Filter } from '../grid/filter.tsx'
import { type CollectionModel, modelQuery } from '../grid/model.ts'
import page from '../page.module.css'
import styles from './access.module.css'
import { Choices } from './choices.tsx'
import {
  type Action,
  conditionIn,
  conditionsOf,
  conditionText,
  type Grant,
  grantTyped,
  type Limits,
} from './content.ts'

type LimitsProps = {
  readonly workspace: string
  readonly collection: string
  readonly action: Action
  readonly title: string
  readonly grant: Grant | undefined
  readonly mayEdit: boolean
  readonly onGrant: (grant: Grant) => void
  readonly onClose: () => void
}

export function LimitsDialog({ workspace, collection, action, title, grant, mayEdit, onGrant, onClose }: LimitsProps) {
  const texts = accessTexts.value
  const limits: Limits = typeof grant === 'object' ? grant : {}
  const { data: model } = useQuery(modelQuery(workspace, collection))
  const [fields, setFields] = useState<readonly string[]>(Array.isArray(limits.fields) ? limits.fields : [])
  const [isEvery, setEvery] = useState(!Array.isArray(limits.fields))
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [wrong, setWrong] = useState<string>()
  /** Of which conditions what is built does not fit its fields. */
  const [unfit, setUnfit] = useState<Readonly<Record<string, boolean>>>({})
  const names = conditionsOf[action]
  const textOf = (name: (typeof names)[number]) => typed[name] ?? conditionText(limits[name])
  const apply = (event: Event) => {
    event.preventDefault()
    // What is built would be lost, and the policy be wider than it was meant.
    const first = names.find((name) => unfit[name])
    if (first !== undefined) return setWrong(first)
    const read = grantTyped(limits, {
      texts: names.map((name) => [name, textOf(name)] as const),
      fields: isEvery || action === 'delete' ? '*' : fields,
    })
    setWrong(read.wrong)
    if (read.grant !== undefined) onGrant(read.grant)
  }
  return (
    <Dialog title={title} onClose={onClose} isWide>
      <div class={page.stack}>
        {action !== 'delete' && (
          <>
            <Select
              label={texts.fields}
              value={isEvery ? 'every' : 'some'}
              onValue={(how) => setEvery(how === 'every')}
              disabled={!mayEdit}
              options={[
                ['every', texts.everyField],
                ['some', texts.someFields],
              ]}
            />
            {!isEvery && (
              <Choices
                label={texts.chosenFields}
                options={fieldsOf(model, fields)}
                chosen={fields}
                onChosen={setFields}
                isDisabled={!mayEdit}
              />
            )}
          </>
        )}
        {names.map((name, at) => (
          <ConditionField
            key={name}
            label={texts.conditions[name]}
            hint={texts.conditionHints[name]}
            model={model}
            mayEdit={mayEdit}
            wrong={wrong !== name ? undefined : unfit[name] ? 'built' : 'typed'}
            takesFocus={action === 'delete' && at === 0}
            onUnfit={(isUnfit) => {
              setUnfit({ ...unfit, [name]: isUnfit })
              setWrong(undefined)
            }}
            text={textOf(name)}
            onText={(text) => setTyped({ ...typed, [name]: text })}
          />
        ))}
        <DialogActions>
          <Button onClick={onClose}>{t.value.common.cancel}</Button>
          {mayEdit && (
            <Button look="primary" onClick={apply}>
              {t.value.grid.apply}
            </Button>
          )}
        </DialogActions>
      </div>
    </Dialog>
  )
}

type ConditionProps = {
  readonly label: string
  readonly hint: string
  /** Null where nobody knows its fields. */
  readonly model: CollectionModel | null | undefined
  readonly mayEdit: boolean
  readonly wrong: 'built' | 'typed' | undefined
  readonly takesFocus: boolean
  readonly onUnfit: (isUnfit: boolean) => void
  readonly text: string
  readonly onText: (text: string) => void
}

/** Built of fields, operators and values where that can say it; as JSON, which can say all. */
function ConditionField(props: ConditionProps) {
  const { label, hint, model, mayEdit, wrong, takesFocus, onUnfit, text, onText } = props
  const texts = accessTexts.value
  const [first] = useState(text)
  const columns = useMemo(() => model && filterColumns(model), [model])
  const canBuild = columns ? editableIn(columns, conditionIn(first)) !== undefined : model === undefined
  const [isBuilding, setBuilding] = useState<boolean>()
  const [isTyping, setTyping] = useState<boolean>()
  /** The builder begins anew with what is typed instead. */
  const [turn, setTurn] = useState(0)
  const shown = { builder: isBuilding ?? (first !== '' && canBuild), json: isTyping ?? (!mayEdit || !canBuild) }
  return (
    <fieldset class={styles.condition}>
      <legend>{label}</legend>
      <p class={page.quiet}>{hint}</p>
      {wrong === 'built' && (
        <p class={page.wrong} role="alert">
          {texts.unfit}
        </p>
      )}
      {mayEdit && model !== null && (
        <Button
          autofocus={takesFocus}
          aria-expanded={shown.builder}
          onClick={() => {
            setBuilding(!shown.builder)
            onUnfit(false)
          }}
        >
          {texts.build(label)}
        </Button>
      )}
      {mayEdit && shown.builder && columns && (
        <Filter
          key={turn}
          columns={columns}
          filter={conditionIn(text)}
          onBuilt={(built) => {
            onUnfit('wrong' in built)
            if ('filter' in built) onText(conditionText(built.filter))
          }}
        />
      )}
      <details
        open={shown.json || wrong === 'typed'}
        onToggle={({ currentTarget: { open } }) => {
          if (open !== (shown.json || wrong === 'typed')) setTyping(open)
        }}
      >
        <summary>{texts.asJson}</summary>
        <Field
          label={texts.jsonOf(label)}
          hint={texts.jsonHint}
          error={wrong === 'typed' ? texts.noCondition : undefined}
          lines={Math.min(8, Math.max(2, text.split('\n').length))}
          dir="ltr"
          spellcheck={false}
          readOnly={!mayEdit}
          value={text}
          onValue={(typed) => {
            setTyping(true)
            onUnfit(false)
            onText(typed)
            if (conditionIn(typed) !== undefined) setTurn(turn + 1)
          }}
        />
      </details>
    </fieldset>
  )
}

/** Fields and relations by their names, with those that the policy has and its reader is not shown. */
function fieldsOf(model: CollectionModel | null | undefined, chosen: readonly string[]) {
  const known = [...(model?.fields ?? []), ...(model?.toOne ?? []), ...(model?.toMany ?? [])]
  const options = known.map(({ name, title }) => [name, title === name ? name : `${title} (${name})`] as const)
  const names = new Set(known.map(({ name }) => name))
  return [...options, ...chosen.filter((name) => !names.has(name)).map((name) => [name, name] as const)]
}
