/** Several of a few things, each with a box to check. */
import styles from './access.module.css'

type ChoicesProps = {
  readonly label: string
  readonly options: readonly (readonly [id: string, name: string])[]
  readonly chosen: readonly string[]
  readonly onChosen: (chosen: readonly string[]) => void
  /** What stands in place of options where there are none. */
  readonly none?: string
  readonly isDisabled?: boolean
}

export function Choices({ label, options, chosen, onChosen, none, isDisabled = false }: ChoicesProps) {
  return (
    <fieldset class={styles.choices} disabled={isDisabled}>
      <legend>{label}</legend>
      {options.length === 0 && <p class={styles.none}>{none}</p>}
      <ul class={styles.options}>
        {options.map(([id, name]) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={(event) =>
                  onChosen(event.currentTarget.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
                }
              />
              <span dir="auto">{name}</span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  )
}
