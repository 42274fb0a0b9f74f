/**
 * Which handler an address has. Those of items, which nearly all requests go to, are found by one regular expression;
 * with the others, some of which look alike (`/api/system/users` and `/api/:workspace/roles`), only a tree can tell them.
 */
import type { Result, Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { TrieRouter } from 'hono/router/trie-router'

export class ServiceRouter<T> implements Router<T> {
  readonly name = 'ServiceRouter'
  readonly #items = new RegExpRouter<T>()
  readonly #others = new TrieRouter<T>()

  add(method: string, path: string, handler: T): void {
    this.#routerOf(path).add(method, path, handler)
  }

  match(method: string, path: string): Result<T> {
    return this.#routerOf(path).match(method, path)
  }

  #routerOf(path: string): Router<T> {
    return isBelowItems(path) ? this.#items : this.#others
  }
}

/** Whether an address is one of items, also where there is nothing at it. */
export function isBelowItems(path: string): boolean {
  return /^\/api\/[^/]+\/items(\/|$)/.test(path)
}
