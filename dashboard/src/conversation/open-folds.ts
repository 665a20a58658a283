/**
 * Which folds the reader has opened or closed, by name: a fold that was scrolled out of the page is rendered again
 * and must look as it was left. Null if folds stay on the page.
 */
import { createContext } from "react";

export const OpenFolds = createContext<Map<string, boolean> | null>(null);
