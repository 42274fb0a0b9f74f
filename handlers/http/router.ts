/**
 * The router. One regular expression matches routes of items and aggregates, which serve nearly all requests; a tree matches
 * the others, some of which overlap (`/api/system/users` and `/api/:workspace/roles`).
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

/** Returns true for paths below items and aggregates, whether a route matches or not. */
export function isBelowItems(path: string): boolean {
  return /^\/api\/[^/]+\/(items|aggregates)(\/|$)/.test(path)
}
