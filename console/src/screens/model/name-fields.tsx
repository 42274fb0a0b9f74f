/** Where names of the model are typed: those of the API, and those that the database has. */
import { modelTexts } from '../../messages/model.ts'
import { Field } from '../../ui/field.tsx'
import { NAME } from './changes.ts'

type NameProps = {
  readonly label?: string
  readonly hint?: string
  readonly error?: string | undefined
  /** Where it is not the first of its form. */
  readonly isLater?: boolean
  readonly value: string
  readonly onValue: (value: string) => void
}

export function NameField({ label = modelTexts.value.name, isLater = false, ...others }: NameProps) {
  return (
    <Field
      label={label}
      required
      autofocus={!isLater}
      dir="ltr"
      pattern={NAME}
      maxLength={63}
      spellcheck={false}
      {...others}
    />
  )
}

type DbNameProps = {
  readonly hint?: string
  readonly value: string
  readonly isRequired?: boolean
  readonly onValue: (value: string) => void
}

export function DbName({ hint, value, isRequired = false, onValue }: DbNameProps) {
  const texts = modelTexts.value
  return (
    <Field
      label={texts.dbName}
      {...(isRequired ? { required: true } : { hint: hint ?? texts.dbNameText })}
      isOptional={!isRequired}
      dir="ltr"
      maxLength={63}
      spellcheck={false}
      value={value}
      onValue={onValue}
    />
  )
}
