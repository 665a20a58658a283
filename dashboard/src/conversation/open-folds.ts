/**
 * Which folds a person has opened or closed, by name: a fold that was scrolled out of the page is drawn anew, and must come
 * back as it was left. Null where folds stay on the page.
 */
import { createContext } from "react";

export const OpenFolds = createContext<Map<string, boolean> | null>(null);
