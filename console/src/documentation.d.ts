/** What scripts/console/documentation.ts makes of docs/. */
declare module 'virtual:documentation' {
  type Page = {
    /** Behind `/-/docs/`. */
    readonly path: string
    readonly title: string
    /** Whether it is a section of the page before it that is none. */
    readonly isSection: boolean
    /** But its title. */
    readonly headings: readonly { readonly id: string; readonly title: string }[]
    readonly load: () => Promise<readonly Node[]>
  }
  /** Texts, and elements with their attributes and what is in them. */
  export type Node = string | readonly [string, Readonly<Record<string, string | number>>, readonly Node[]]
  export const pages: readonly Page[]
}
