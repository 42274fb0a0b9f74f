/** What an action of a policy is limited to: fields, and the conditions that rows have to meet. */
import { useState } from 'preact/hooks'
import { useQuery } from '../../data/queries.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { filterColumns } from '../grid/columns.ts'
import { Filter } from '../grid/filter.tsx'
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
  const texts = t.value.access
  const limits: Limits = typeof grant === 'object' ? grant : {}
  const { data: model } = useQuery(modelQuery(workspace, collection))
  const [fields, setFields] = useState<readonly string[]>(Array.isArray(limits.fields) ? limits.fields : [])
  const [isEvery, setEvery] = useState(!Array.isArray(limits.fields))
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [wrong, setWrong] = useState<string>()
  /** Of which condition the builder is open, and whether what is built there fits its fields. */
  const [building, setBuilding] = useState<string>()
  const [isUnfit, setUnfit] = useState(false)
  const names = conditionsOf[action]
  const textOf = (name: (typeof names)[number]) => typed[name] ?? conditionText(limits[name])
  const apply = (event: Event) => {
    event.preventDefault()
    // What is built would be lost, and the policy be wider than it was meant.
    if (building !== undefined && isUnfit) return setWrong(building)
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
        {names.map((name) => (
          <ConditionField
            key={name}
            label={texts.conditions[name]}
            hint={texts.conditionHints[name]}
            model={model ?? undefined}
            mayEdit={mayEdit}
            error={wrong !== name ? undefined : building === name && isUnfit ? texts.unfit : texts.noCondition}
            isBuilding={building === name}
            onBuilding={(isOpen) => {
              setBuilding(isOpen ? name : undefined)
              setUnfit(false)
              setWrong(undefined)
            }}
            onUnfit={setUnfit}
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
  readonly model: CollectionModel | undefined
  readonly mayEdit: boolean
  readonly error: string | undefined
  readonly isBuilding: boolean
  readonly onBuilding: (isOpen: boolean) => void
  readonly onUnfit: (isUnfit: boolean) => void
  readonly text: string
  readonly onText: (text: string) => void
}

/** As JSON, which can say all; the builder writes what it can as it is made. */
function ConditionField(props: ConditionProps) {
  const { label, hint, model, mayEdit, error, isBuilding, onBuilding, onUnfit, text, onText } = props
  const texts = t.value.access
  const condition = conditionIn(text)
  return (
    <div class={styles.condition}>
      <Field
        label={label}
        hint={hint}
        error={error}
        isOptional
        lines={Math.min(8, Math.max(2, text.split('\n').length))}
        dir="ltr"
        spellcheck={false}
        readOnly={!mayEdit}
        value={text}
        onValue={onText}
      />
      {mayEdit && model && (
        <Button look="plain" aria-expanded={isBuilding} onClick={() => onBuilding(!isBuilding)}>
          {texts.build(label)}
        </Button>
      )}
      {isBuilding && model && (
        <Filter
          columns={filterColumns(model)}
          filter={condition}
          onBuilt={(built) => {
            onUnfit('wrong' in built)
            if ('filter' in built) onText(conditionText(built.filter))
          }}
        />
      )}
    </div>
  )
}

/** Fields and relations by their names, with those that the policy has and its reader is not shown. */
function fieldsOf(model: CollectionModel | null | undefined, chosen: readonly string[]) {
  const known = [...(model?.fields ?? []), ...(model?.toOne ?? []), ...(model?.toMany ?? [])]
  const options = known.map(({ name, title }) => [name, title === name ? name : `${title} (${name})`] as const)
  const names = new Set(known.map(({ name }) => name))
  return [...options, ...chosen.filter((name) => !names.has(name)).map((name) => [name, name] as const)]
}
