/** A model file that is pasted, with what it would change before it does. */
import { useState } from 'preact/hooks'
import { t } from '../../messages/messages.ts'
import { Field } from '../../ui/field.tsx'
import { Planning, type WayProps } from './planning.tsx'

export function ModelFile(way: WayProps) {
  const texts = t.value.model
  const [text, setText] = useState('')
  const onModel = async () => {
    try {
      return JSON.parse(text)
    } catch {
      return texts.noJson
    }
  }
  return (
    <Planning {...way} draft={text} onModel={onModel}>
      <Field
        label={texts.file}
        hint={texts.fileText}
        lines={14}
        required
        autofocus
        dir="ltr"
        spellcheck={false}
        value={text}
        onValue={setText}
      />
    </Planning>
  )
}
